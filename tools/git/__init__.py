"""Repositories in a workspace: git in the sandbox, and its smart HTTP through the guarded client."""
