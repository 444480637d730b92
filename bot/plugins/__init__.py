"""Channels, tools and models found by name: built in, or brought by installed packages."""
