"""The terminal as a whole screen: chat, approvals, outbox and runs of the process that runs. Loaded only by its command."""
