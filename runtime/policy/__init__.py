"""Policy: which tool call may run, and by whom it is decided. Pure."""
