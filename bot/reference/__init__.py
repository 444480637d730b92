"""Reference pages, generated from the settings and the commands."""
