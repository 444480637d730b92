"""Formats of other bots' folders: a module each, which reads one into what is the same for all."""
