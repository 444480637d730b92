"""Agents inside a program."""
