"""Tools that read skills and run their scripts."""
