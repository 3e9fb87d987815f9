"""Decisions: one pod at a time, pure; the queue; and the Scheduler that turns changes into commands."""
