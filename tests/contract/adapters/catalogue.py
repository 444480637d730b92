"""Every rig there is, by the name that tests print."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Final

from tests.contract.adapters.rig import RigMaker

CHANNELS: Final = ("fake", "web", "slack", "telegram", "discord")


def rigs() -> Mapping[str, RigMaker]:
    names = (f"{__package__}.rigs.{channel}" for channel in CHANNELS)
    return {name: maker for module in names if find_spec(module) for name, maker in import_module(module).RIGS.items()}


RIGS: Final = rigs()
