"""Schedules and reports as they would be, and rooms that they may go to."""
