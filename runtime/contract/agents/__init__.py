"""Words of work that one agent hands to another, or to a later run of itself."""
