"""The chat in a terminal: a prompt, the answers, and questions about risky calls between them.

Reading the keyboard blocks, so it happens outside of the event loop: the loop runs only while there is something to
wait for, and Ctrl-C ends the program from either.
"""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, suppress
from typing import Final

import typer

from bot.node.invocation import as_called
from bot.node.lock import Control
from bot.operator.views import View
from bot.terminal.conversation import Conversation, conversing
from bot.terminal.output import clean, console, show_markdown
from runtime.errors import BotError

PROMPT: Final = "you> "
YES: Final = frozenset({"y", "yes"})
NO: Final = frozenset({"n", "no"})


class Terminal:
    def __init__(self, control: Control, room: str) -> None:
        self._control = control
        self._room = room
        self._put_off: set[str] = set()

    def talk(self) -> None:
        """Until the person leaves."""
        with asyncio.Runner() as runner, suppress(EOFError, KeyboardInterrupt):
            stack = AsyncExitStack()
            try:
                conversation = runner.run(stack.enter_async_context(conversing(self._control, self._room)))
                typer.echo(f"You talk as the owner, in room {conversation.room}. Ctrl-D leaves.")
                self._catch_up(runner, conversation)
                while True:
                    self._turn(runner, conversation)
            finally:
                runner.run(stack.aclose())
        typer.echo()

    def _turn(self, runner: asyncio.Runner, conversation: Conversation) -> None:
        text = input(PROMPT)
        if not text.strip():
            return
        try:
            runner.run(conversation.say(text))
            self._catch_up(runner, conversation)
        except BotError as error:
            typer.echo(f"signalbox: {as_called(str(error))}", err=True)

    def _catch_up(self, runner: asyncio.Runner, conversation: Conversation) -> None:
        """Show what is new and ask what is to be decided, until neither is left."""
        while True:
            with console().status("working"):
                view = runner.run(conversation.settled())
            for entry in conversation.fresh(view):
                show_markdown(entry["markdown"])
            waiting = [approval for approval in view["approvals"] if approval["id"] not in self._put_off]
            if not waiting:
                return
            self._question(runner, conversation, waiting[0])

    def _question(self, runner: asyncio.Runner, conversation: Conversation, approval: View) -> None:
        typer.echo(f"\n{clean(approval['question'])}")
        typer.echo(approval["call"])
        if approval["caution"]:
            typer.echo(clean(approval["caution"]))
        picked = _picked(approval)
        if picked is None:
            self._put_off.add(approval["id"])
            typer.echo(as_called(f"Left open. Answer it later: signalbox approvals approve {approval['id']}"))
            return
        try:
            made = runner.run(conversation.decide(approval, *picked))
            typer.echo(f"{made['state']}.")
        except BotError as error:
            typer.echo(f"signalbox: {as_called(str(error))}", err=True)


def _picked(approval: View) -> tuple[str, str] | None:
    """The choice and the reason; None when the question is put off."""
    if not _is_call(approval):
        choices = ", ".join(f"{choice} ({label})" for choice, label in approval["choices"].items())
        said = input(f"{choices}, or Enter for later> ").strip().lower()
        return (said, "") if said in approval["choices"] else None
    said = input("y approves, n denies, other words deny with that reason, Enter is later> ").strip()
    if said.lower() in YES:
        return "approve", ""
    if said.lower() in NO:
        return "deny", ""
    return ("deny", said) if said else None


def _is_call(approval: View) -> bool:
    return "approve" in approval["choices"]
