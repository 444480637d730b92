"""Schedules: booked in words, fired by the clock."""
