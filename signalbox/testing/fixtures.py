"""Fixtures for pytest, for those who name this module: `pytest_plugins = ["signalbox.testing.fixtures"]`."""

from __future__ import annotations

from bot.testing.fixtures import clock, pytest_pyfunc_call, scripted

__all__ = ["clock", "pytest_pyfunc_call", "scripted"]
