"""Tools for the files of a workspace."""
