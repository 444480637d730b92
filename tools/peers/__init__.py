"""Agents of other systems, which are asked over A2A."""
