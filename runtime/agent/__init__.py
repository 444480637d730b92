"""The agent's loop: model calls, tool calls and their outcome."""
