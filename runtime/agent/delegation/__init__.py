"""Work that a run hands to other agents: its orders, and the children that carry them out."""
