"""The program with a model and tools to which one word is deadly, as a fault in a native library would be.

python -m tests.faults.poison --data DIR [...]     the options are those of `tests.faults.app`
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from runtime.contract import Json, Model, ModelReply, ModelRequest, OnText, Tool, ToolContext, ToolSpec, UserTurn
from tests.faults.app import arguments, serve

POISON: Final = "poison"
ACTS_AFTER: Final = 0.3  # seconds, so that others are under way


async def kill_if(deadly: bool) -> None:
    if deadly:
        await asyncio.sleep(ACTS_AFTER)
        os.kill(os.getpid(), signal.SIGKILL)


@dataclass(slots=True)
class DeadlyModel:
    """A Model that dies of the last thing it was told."""

    model: Model
    name: str = "deadly"

    async def reply(self, request: ModelRequest, on_text: OnText) -> ModelReply:
        last = request.turns[-1]
        await kill_if(isinstance(last, UserTurn) and f"drink {POISON}" in last.text)
        return await self.model.reply(request, on_text)


@dataclass(frozen=True, slots=True)
class DeadlyTool:
    """A Tool that dies of its arguments."""

    tool: Tool

    @property
    def spec(self) -> ToolSpec:
        return self.tool.spec

    async def call(self, arguments: Mapping[str, Json], context: ToolContext) -> str:
        await kill_if(POISON in str(arguments))
        return await self.tool.call(arguments, context)

    def caution(self) -> str:
        return self.tool.caution()


if __name__ == "__main__":
    asyncio.run(serve(arguments().parse_args(), model=DeadlyModel, tool=DeadlyTool))
