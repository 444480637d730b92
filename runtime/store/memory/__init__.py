"""Memory: rows that agents keep, and how they are found."""
