"""Phases in which a process is built: store, then accounts, then engine, then HTTP; and the duties of all that."""
