"""Questions that the agent asks a person, and waits for."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from runtime.contract.people import Json

ANYBODY: Final = "room"
"""In place of a name: whoever may speak in the room."""


@dataclass(frozen=True, slots=True)
class Asking:
    """A question to a person. `options` are answers to choose from; without any it is answered in words.

    `to` is a name, `ANYBODY`, or empty: then the run's requester is asked.
    """

    question: str
    options: tuple[str, ...] = ()
    to: str = ""

    def to_json(self) -> dict[str, Json]:
        return {"question": self.question, "options": list(self.options), "to": self.to}

    @classmethod
    def from_json(cls, text: str) -> Asking:
        """Read it out of a card, which holds more."""
        raw = json.loads(text) if text else {}
        return cls(raw.get("question", ""), tuple(raw.get("options", ())), raw.get("to", ""))


Asks = Callable[[Mapping[str, Json]], Asking]
"""Question that a call with these arguments asks. Errors: ToolError for arguments that make none."""
