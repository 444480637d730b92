"""`[[triggers]]`: their tables, and faults that show only together."""
