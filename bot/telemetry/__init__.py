"""Logs and traces, with secrets masked."""
