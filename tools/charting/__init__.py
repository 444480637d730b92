"""Charts: what is ordered, how it looks, and the process that draws it. Only that process loads matplotlib."""
