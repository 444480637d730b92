"""Values that runs are handed and hand back, without the operations on them."""
