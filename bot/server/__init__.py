"""One serving process: composed, started, reloaded and drained."""
