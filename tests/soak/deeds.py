"""Tools that write down when a call began and when it did its work, so that a kill in between can be told from one after."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bot.testing.channel.board import append
from runtime.contract import Effect, Flow, Json, Reads, Tool, ToolContext, ToolSpec
from tests.soak.plan import Want
from tools.asking import ASK_PERSON

PACE: Final = 0.35  # seconds before and after its work that a slow call takes
EFFECT_OF: Final[Mapping[Want, Effect]] = {
    Want.LOOK: Effect.READ,
    Want.WRITE: Effect.WRITE,
    Want.FIRE: Effect.DANGER,
    Want.POST: Effect.WRITE,
    Want.STAMP: Effect.WRITE,
}
ALLOWED: Final = [
    {"tool": tool, "result": "allow"} for tool in (Want.POST, Want.STAMP, "channel_send", "workflow_start", "goal_set")
]
"""The policy under which these are offered."""
SCHEMA: Final[Mapping[str, Json]] = {
    "type": "object",
    "properties": {"tag": {"type": "string"}, "slowly": {"type": "boolean"}},
    "required": ["tag", "slowly"],
}


@dataclass(frozen=True, slots=True)
class Deed:
    """One tool. Its journal has a line when a call begins and one when its work is done."""

    want: Want
    journal: Path

    @property
    def spec(self) -> ToolSpec:
        effect = EFFECT_OF[self.want]
        return ToolSpec(
            self.want,
            f"{self.want} under a tag",
            SCHEMA,
            effect,
            idempotent=self.want is Want.STAMP,
            flow=Flow(Reads.OURS),
        )

    async def call(self, arguments: Mapping[str, Json], context: ToolContext) -> str:
        self._note("began", arguments, context)
        await asyncio.sleep(PACE if arguments["slowly"] else 0)
        self._note("did", arguments, context)
        await asyncio.sleep(PACE if arguments["slowly"] else 0)
        return f"done as {arguments['tag']}"

    def caution(self) -> str:
        return ""

    def _note(self, what: str, arguments: Mapping[str, Json], context: ToolContext) -> None:
        about = {"tool": self.want, "arguments": dict(arguments), "run": context.run_id, "call": context.call_id}
        append(self.journal, {"what": what, **about, "pid": os.getpid(), "at": time.time()})


def deeds(journal: Path) -> dict[str, Tool]:
    return {**{want: Deed(want, journal) for want in EFFECT_OF}, ASK_PERSON.spec.name: ASK_PERSON}


def deeds_in(journal: Path) -> list[dict[str, Any]]:
    """What calls wrote down so far. The program may be writing: a line without its end is not there yet."""
    text = journal.read_bytes() if journal.exists() else b""
    return [json.loads(line) for line in text[: text.rfind(b"\n") + 1].splitlines()]
