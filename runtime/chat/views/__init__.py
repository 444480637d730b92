"""Lists and tables that commands show."""
