"""Operators' pages and API in a browser, and the health checks."""
