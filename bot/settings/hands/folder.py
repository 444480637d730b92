"""`hands/*.toml` beside the settings file: an agent with its tools and skills, and the work it does by the clock.

one file -> a table of `agents` -> and, while it is active, a table of `schedules`
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from bot.settings.faults import Faults, nearest
from bot.settings.sources import Layers, read_file
from runtime.errors import ConfigError

HANDS_FOLDER: Final = "hands"
SHIPPED_HANDS: Final = Path(__file__).parents[3] / "config" / "hands"
OF_AGENT: Final = ("prompt", "tools", "skills", "model")
OF_SCHEDULE: Final = ("when", "zone", "to", "quiet", "max_cost")
OF_HAND: Final = ("about", "task", "active", *OF_AGENT, *OF_SCHEDULE)
"""What stands in the file of a hand."""


def schedule_of_hand(name: str) -> str:
    """Name of the schedule of a hand."""
    return f"hand {name}"


def hand_files(folder: Path) -> list[Path]:
    """Files of hands in their order; none where there is no folder. Hidden ones are an editor's."""
    return sorted(file for file in folder.glob("*.toml") if not file.name.startswith("."))


def add_hands(layers: Layers, faults: Faults, start: Path) -> None:
    """Add an agent for each file, and a schedule for each that is active. A fault names the file."""
    for file in hand_files(start / HANDS_FOLDER):
        try:
            hand = read_file(file)
        except ConfigError as error:
            faults.add_sentence(str(error))
            continue
        if why := fault_of(hand):
            faults.add_sentence(f"{file}: {why}.")
            continue
        agent: dict[str, Any] = {name: hand[name] for name in OF_AGENT if name in hand}
        layers.add_table("agents", {"name": file.stem, **agent}, source=str(file))
        if hand.get("active"):
            work: dict[str, Any] = {name: hand[name] for name in OF_SCHEDULE if name in hand}
            own = {"name": schedule_of_hand(file.stem), "prompt": hand["task"], "agent": file.stem}
            layers.add_table("schedules", {**own, **work}, source=str(file))


def fault_of(hand: Mapping[str, Any]) -> str:
    """Fault of a hand by itself; the rest is looked at with its agent and its schedule."""
    for name in hand:
        if name not in OF_HAND:
            near = nearest(name, OF_HAND)
            return f"there is no setting {name!r} of a hand; {f'did you mean {near}?' if near else 'take it out'}"
    for name in ("prompt", "task", "when"):
        if not isinstance(hand.get(name), str) or not hand[name].strip():
            return f"{name} is missing, or no text"
    if not isinstance(hand.get("active", False), bool):
        return "active is true or false"
    if hand.get("active") and not hand.get("to"):
        return "to is missing: name the rooms for its reports before it is active"
    return ""
