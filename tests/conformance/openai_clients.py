"""OpenAI's own clients against the doors, each in an environment of its own: `make conformance` prints their counts.

python -m tests.conformance.openai_clients PYTHON…
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
import tempfile
from pathlib import Path
from typing import Final

from bot.doors.openai.wishes import FORM_MARK, TELLS_TOOLS, TOOLS_MARK
from runtime.contract import ModelReply, ModelRequest, OnText, Usage
from tests.security.running import TEXT, running

CASES: Final = Path(__file__).with_name("openai_cases.py")
AGENT: Final = '[[agents]]\nname = "ops"\nprompt = "You help."\n'
TELLS_CHARS: Final = 30
TOLD_TOOL: Final = re.compile(r'\[\{"name": "(\w+)"')


class Obliging:
    """A model that calls the client's tool, answers in its form, and else repeats what it reads."""

    name = "obliging"

    async def reply(self, request: ModelRequest, on_text: OnText) -> ModelReply:
        text = answer(request.turns[-1].text)
        for end in range(0, len(text), 10):
            on_text(text[:end])
            await asyncio.sleep(0)
        return ModelReply(text, (), Usage("obliging", 1, 1))


def answer(asked: str) -> str:
    place = {"location": "Rome"}
    if FORM_MARK in asked:
        return json.dumps(place)
    tool = TOLD_TOOL.search(asked.partition(TOOLS_MARK)[2])
    if tool and "Results of the calls" not in asked:
        return f"```tool_calls\n{json.dumps([{'name': tool[1], 'arguments': place}])}\n```"
    return f"I read: {asked.partition(TELLS_TOOLS[:TELLS_CHARS])[0]}"


async def tried(python: str, url: str, token: str) -> tuple[int, str]:
    """How it ended, and what it printed."""
    process = await asyncio.create_subprocess_exec(
        *(python, str(CASES), url, token), stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    told, _ = await process.communicate()
    return process.returncode or 0, told.decode(errors="replace")


async def main(*pythons: str) -> int:
    """The number of cases that failed."""
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        async with running(Path(folder), TEXT + AGENT, model=Obliging()) as house:
            for number, python in enumerate(pythons):
                token = (await house.api.make_token(f"client-{number}", "user", per_minute="6000"))["token"]
                code, told = await tried(python, house.url, token)
                sys.stdout.write(told)
                failed += code
    return failed


if __name__ == "__main__":
    sys.exit(asyncio.run(main(*sys.argv[1:])))
