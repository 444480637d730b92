"""Transactions of runs: claims, turns, steps and endings."""
