"""Tools that show something beside the answer: messages, reactions, and changes of messages."""
