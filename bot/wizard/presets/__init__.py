"""Presets of `signalbox init`: agents, skills, schedules and policy for a start that fits."""
