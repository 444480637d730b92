"""Settings, lock, logs, console and command line."""
