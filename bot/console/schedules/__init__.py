"""Pages of schedules: the list, one with what is next and what was, and its form; and reports, made at once."""
