"""Pages of what agents keep."""
