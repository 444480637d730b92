"""Questions of a step: to a person at the terminal, or to nobody, with answers from flags and defaults."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping
from typing import Any, Protocol, TypeVar

import typer

from bot.terminal.output import clean
from runtime.errors import BotError

Answer = TypeVar("Answer")


class Dialogue(Protocol):
    def begin(self, title: str, about: str) -> None:
        """A step begins."""

    def say(self, words: str) -> None: ...

    def ask(self, question: str, default: str) -> str:
        """One line; Enter gives the default."""

    def secret(self, question: str) -> str:
        """One line that is not shown; may be empty."""

    def choose(self, trouble: str, choices: Mapping[str, str]) -> str:
        """One of `choices` (word to meaning) after a trouble. Errors: BotError where nobody is there to choose."""

    def wait(self, words: str, work: Coroutine[Any, Any, Answer]) -> Answer:
        """Do `work` while the person reads what is waited for."""


class AtTerminal:
    """A Dialogue with a person."""

    def begin(self, title: str, about: str) -> None:
        typer.echo(f"\n{typer.style(title, bold=True)}\n{about}")

    def say(self, words: str) -> None:
        typer.echo(clean(words))

    def ask(self, question: str, default: str) -> str:
        return str(typer.prompt(question, default=default, show_default=bool(default))).strip()

    def secret(self, question: str) -> str:
        return str(typer.prompt(question, default="", show_default=False, hide_input=True)).strip()

    def choose(self, trouble: str, choices: Mapping[str, str]) -> str:
        self.say(trouble)
        for word, meaning in choices.items():
            self.say(f"  {word:<6} {meaning}")
        while (said := self.ask("Which", next(iter(choices)))) not in choices:
            self.say(f"One of: {', '.join(choices)}")
        return said

    def wait(self, words: str, work: Coroutine[Any, Any, Answer]) -> Answer:
        from bot.terminal.output import console

        with console().status(words):
            return asyncio.run(work)


class ByFlags:
    """A Dialogue with nobody: defaults answer, and a trouble ends it before anything is written."""

    def begin(self, title: str, about: str) -> None:
        pass

    def say(self, words: str) -> None:
        typer.echo(clean(words))

    def ask(self, question: str, default: str) -> str:
        return default

    def secret(self, question: str) -> str:
        return ""

    def choose(self, trouble: str, choices: Mapping[str, str]) -> str:
        raise BotError(f"{trouble}\nNothing was written.")

    def wait(self, words: str, work: Coroutine[Any, Any, Answer]) -> Answer:
        return asyncio.run(work)
