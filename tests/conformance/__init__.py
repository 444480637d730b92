"""Suites of others that run against this program: `make conformance`."""
