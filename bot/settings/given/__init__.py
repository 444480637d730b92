"""Settings that a start brings along: flags, and a file of variables."""
