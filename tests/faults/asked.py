"""The program with a model that writes down each time it is asked.

python -m tests.faults.asked --data DIR [...]     the options are those of `tests.faults.app`
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from bot.testing.channel.board import append, recorded
from runtime.contract import Model, ModelReply, ModelRequest, OnText
from tests.faults.app import arguments, serve

ASKED: Final = "asked"
"""The journal in the data folder with a line for each time."""


@dataclass(slots=True)
class Counting:
    """A Model that writes it down before it is asked, so that a kill cannot hide it."""

    journal: Path
    model: Model
    name: str = "counting"

    async def reply(self, request: ModelRequest, on_text: OnText) -> ModelReply:
        append(self.journal, {"turns": len(request.turns)})
        return await self.model.reply(request, on_text)


def times_asked(data: Path) -> int:
    """How often the model was asked in all lives of the program over this data folder."""
    return len(recorded(data / ASKED))


if __name__ == "__main__":
    given = arguments().parse_args()
    asyncio.run(serve(given, model=partial(Counting, given.data / ASKED)))
