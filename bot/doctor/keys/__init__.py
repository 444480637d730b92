"""Checks of sign-ins."""
