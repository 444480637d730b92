"""What runs are handed and hand back: values, without the operations on them."""
