"""Commands for work that goes on without anybody waiting."""
