"""A program with an agent, to be killed: it has a letter sent, once for its key, and tells how far it is."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from bot.sdk.results import Question
from bot.telemetry import logs
from bot.testing.agents import scripted_agent
from runtime.contract import Call, ModelReply, ModelRequest, ToolTurn, Usage

FOLDER = Path(sys.argv[1]) if len(sys.argv) > 1 else Path()
SENT = "It was sent."


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


async def send_letter(text: str) -> str:
    """Send a letter."""
    with (FOLDER / "letters").open("a") as letters:
        letters.write(f"{text}\n")
    say("called")
    await asyncio.Event().wait()  # the post is slow: here it is killed
    return "never told"


def answer(request: ModelRequest) -> ModelReply:
    if isinstance(request.turns[-1], ToolTurn):
        return ModelReply(SENT, (), Usage("scripted"))
    return ModelReply("", (Call("c1", "send_letter", '{"text": "hello"}'),), Usage("scripted"))


def decide(question: Question) -> bool | str:
    say(f"decided: {question.kind}")
    return True if question.kind == "call" else "done"


async def main() -> None:
    logs.configure("error", "json")
    async with scripted_agent(FOLDER, *[answer] * 9, tools=[send_letter]) as agent:
        run = await agent.run("Have a letter sent.", key="letter-1")
        say("asked again" if run.repeated else "asked anew")
        say(f"answered: {await run.wait(decide=decide)}")
        line = await run.session.shown(str(await agent.ask("Have a letter sent.", key="letter-1")))
        say(f"shown: {[one.text for one in await run.session.history()].count(line.text)}")
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
