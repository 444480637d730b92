"""Every rig there is, by the name that tests print."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tests.contract.adapters.rig import RigMaker
from tests.contract.adapters.rigs import discord, email, matrix, slack, telegram, web

RIGS: Final[Mapping[str, RigMaker]] = {
    name: maker for rigs in (web, slack, telegram, discord, email, matrix) for name, maker in rigs.RIGS.items()
}
MINUTES_LONG: Final = frozenset({"matrix"})
"""Rigs on a real server, whose tests take minutes: `make cuts` runs them."""
