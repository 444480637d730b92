"""Goals: contracts, the turns in which they are worked on, and what their runs record."""
