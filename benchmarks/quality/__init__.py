"""Placement quality: every scenario, every contender, many seeds; the tables of docs/quality.md."""
