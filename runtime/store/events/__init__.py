"""Events in SQL: rows of the audit with their places, cursors of sinks, checkpoints of rooms, and feedback."""
