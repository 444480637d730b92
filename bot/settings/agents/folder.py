"""`agents/*.toml` beside the settings file: one agent each."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from bot.settings.faults import Faults
from bot.settings.sources import Layers, read_file
from runtime.errors import ConfigError

AGENTS_FOLDER: Final = "agents"
AGENTS: Final = "agents"
"""The list of the settings that they stand in."""


def agent_files(start: Path) -> list[Path]:
    """Files of agents in their order; none where there is no folder. Hidden ones are an editor's."""
    return sorted(file for file in (start / AGENTS_FOLDER).glob("*.toml") if not file.name.startswith("."))


def add_agents(layers: Layers, faults: Faults, start: Path) -> None:
    """Add each file as one more table, named after the file unless it says otherwise. What is no TOML is a fault."""
    if not isinstance(layers.get(AGENTS) or [], list):
        return  # told with the setting itself
    for file in agent_files(start):
        try:
            table = read_file(file)
        except ConfigError as error:
            faults.add_sentence(str(error))
        else:
            layers.add_table(AGENTS, {"name": file.stem, **table}, source=str(file))
