"""One fake per outside thing; each speaks the real wire."""
