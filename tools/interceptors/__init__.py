"""Interceptors that are programs: kept at work in a sandbox, and asked a line at a time."""
