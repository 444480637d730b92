"""The installation: its figures, settings, models, agents and guard."""
