"""Questions of approvers to the agent about a call that waits: the press that asks, and the answers."""
