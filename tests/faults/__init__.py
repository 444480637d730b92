"""Kills, cuts and repeats against the real program, and what people see afterwards."""
