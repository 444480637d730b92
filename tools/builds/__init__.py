"""Tests and compilers of a project, run as the shell is, and read by what they say."""
