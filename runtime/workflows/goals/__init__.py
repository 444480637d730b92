"""Goals at work: what speaks in place of the model, and how they are begun for tools."""
