"""Sections of the settings that each installation has."""
