"""Scorecards as people and programs read them: tables, JSON, plots, and one page that holds them all."""
