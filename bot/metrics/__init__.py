"""Metrics of the process's work, for Prometheus."""
