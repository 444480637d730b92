"""Files of a session: kept inside its folder, bounded, cleaned up."""
