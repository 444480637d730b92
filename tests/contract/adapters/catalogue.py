"""Every rig there is, by the name that tests print."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tests.contract.adapters.rig import RigMaker
from tests.contract.adapters.rigs import discord, email, slack, telegram, web

RIGS: Final[Mapping[str, RigMaker]] = {
    name: maker for rigs in (web, slack, telegram, discord, email) for name, maker in rigs.RIGS.items()
}
