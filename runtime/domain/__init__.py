"""Pure rules and state machines. No I/O, no SQL."""
