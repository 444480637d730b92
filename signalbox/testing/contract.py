"""Promises of every channel, as tests of your adapter. Needs pytest."""

from __future__ import annotations

from bot.testing.channel.contract import ChannelContract, ChannelRig, Lacks

__all__ = ["ChannelContract", "ChannelRig", "Lacks"]
