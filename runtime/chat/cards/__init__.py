"""Cards: what people read of a question, while it is open and after."""
