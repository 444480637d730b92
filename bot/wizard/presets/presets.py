"""Presets: settings to begin with, and the agents beside them, as files to read and change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bot.settings.agents.folder import AGENTS_FOLDER
from bot.settings.agents.writing import write_new
from bot.settings.faults import nearest
from runtime.errors import ConfigError

PRESETS_FOLDER: Final = Path(__file__).parents[3] / "config" / "presets"
PRESET_NAMES: Final[Mapping[str, str]] = {
    "personal": "one person, their notes and files, a look at the day",
    "team": "a shared agent, a colleague that only reads, a report each Monday",
    "ops": "services and machines; what changes something waits for an operator",
    "coding": "reads, writes and tries code in its workspace",
    "support": "answers from documents, and hands the rest to people",
}
"""Each with what it is for."""


@dataclass(frozen=True, slots=True)
class Preset:
    """`settings` go behind those of the wizard; `agents` are files by their names."""

    name: str
    settings: str
    agents: Mapping[str, str]


def preset_of(name: str) -> Preset:
    """Errors: ConfigError for a name that is none."""
    if name not in PRESET_NAMES:
        near = nearest(name, PRESET_NAMES)
        fix = f"Did you mean {near}?" if near else f"There are: {', '.join(PRESET_NAMES)}."
        raise ConfigError(f"--preset: there is no preset {name}. {fix}")
    folder = PRESETS_FOLDER / name
    agents = {file.name: file.read_text(encoding="utf-8") for file in sorted((folder / AGENTS_FOLDER).glob("*.toml"))}
    return Preset(name, (folder / "settings.toml").read_text(encoding="utf-8"), agents)


def write_agents(preset: Preset, beside: Path) -> list[str]:
    """Write each agent that isn't there yet; names of those that are, and stay as they were. Errors: ConfigError."""
    kept: list[str] = []
    for name, text in preset.agents.items():
        try:
            write_new(beside / AGENTS_FOLDER / name, text)
        except FileExistsError:
            kept.append(name)
        except OSError as error:
            raise ConfigError(f"{beside / AGENTS_FOLDER / name} can't be written: {error.strerror}.") from error
    return kept
