"""Counted suites: what an attacker may try, tried in numbers. Each prints its count and fails below it."""
