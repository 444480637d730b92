"""Shared parts of commands at a terminal: options, output, prompts."""
