"""Options that many commands share, and what follows from them."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISDIR
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar

import typer

from bot.terminal.misuse import note_parameters
from runtime.errors import BotError, ConfigError

if TYPE_CHECKING:
    from bot.node.lock import Control
    from bot.operator.api import OperatorApi
    from bot.secrets.keys import Ask
    from bot.settings.given.flags import Flags
    from bot.settings.settings import Settings
    from runtime.guard.masks import Mask

ConfigFile = Annotated[
    Path | None,
    typer.Option("--config", metavar="FILE", help="Settings file. Without it: signalbox.toml here, then the user's."),
]
Last = Annotated[bool, typer.Option("--last", help="Take the newest one.")]
InRoom = Annotated[
    str, typer.Option("--room", metavar="ROOM", help="Only this room: its name, such as #general, or its address.")
]
WithIds = Annotated[bool, typer.Option("--ids", help="Show rooms by their addresses.")]
Yes = Annotated[bool, typer.Option("--yes", help="Don't ask first. Needed without a terminal.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
CallArguments = Annotated[
    list[str] | None,
    typer.Option(
        "--arg", metavar="NAME=VALUE", help="An argument of the call; NAME:=JSON for one that isn't text. Repeatable."
    ),
]
CallRoom = Annotated[str, typer.Option("--room", help="Address of the room, as in rules.")]
CallPeople = Annotated[
    list[str] | None, typer.Option("--person", help="Name or identity of the person who asks. Repeatable.")
]
CallEffect = Annotated[
    str, typer.Option("--effect", help="What the tool may do (read, write, danger), if it isn't known here.")
]


MASK: Final = "signalbox.mask"  # in the context of a command
STARTING: Final = 5.0  # seconds to wait for a process that holds the folder and does not listen yet
POLL_SECONDS: Final = 0.1  # seconds between two looks for it
NONE_RUNNING: Final = (
    "No Signalbox is running with data_dir {folder}{there} (settings: {file}). Start it: signalbox run. "
    "For one that runs with other settings, name their file: --config FILE"
)
NOT_READABLE: Final = (
    "data_dir: {folder} is closed to this user, so it can't be told whether a Signalbox runs there. "
    "Use the account that runs it."
)

Answer = TypeVar("Answer")


def settings_of(
    context: typer.Context,
    config: Path | None,
    overrides: Mapping[str, object] | Flags | None = None,
    *,
    with_secrets: bool = False,
) -> Settings:
    """The settings for this command. `--config` may stand before or after the command's name.

    A client of the running process needs no secrets: without `with_secrets` none is demanded, and no sealed file opened.
    """
    from bot.settings.settings import load

    demand = None if with_secrets else ()
    settings = load(config or context.find_root().obj, overrides, demand=demand, ask=asking())
    context.find_root().meta[MASK] = hide_secrets(settings)
    note_parameters(context)
    return settings


def running_flags(settings: Settings) -> Flags:
    """Flags of the process that runs with these settings; none where none runs."""
    from bot.node.lock import control_of
    from bot.settings.given.flags import NO_FLAGS, flags_of

    control = control_of(settings.data_dir)
    return flags_of(control.flags) if control else NO_FLAGS


def mask_of(context: typer.Context) -> Mask:
    """Keeps the secrets of this command's settings out of what it says."""
    from runtime.guard.masks import Mask

    return context.find_root().meta.get(MASK) or Mask()


def asking() -> Ask | None:
    """A question to the person at the terminal, whose answer is not shown; None where nobody sits."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    return lambda words: str(typer.prompt(words, hide_input=True, err=True))


def ask_first(yes: bool, question: str) -> None:
    """Have the person at the terminal say yes to what cannot be undone. Errors: ConfigError where nobody sits there."""
    expect_answer(yes, question)
    if not yes:
        typer.confirm(f"{question}?", abort=True, err=True, prompt_suffix=" ")


def expect_answer(yes: bool, question: str) -> None:
    """Errors: ConfigError where nobody said yes, and nobody sits there to be asked."""
    if not yes and not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise ConfigError(f"{question}? There's no terminal to ask on, so nothing was done. Add --yes to do it.")


def hide_secrets(settings: Settings) -> Mask:
    """Print no secret of `settings`, whatever ends this command."""
    from bot.telemetry.masking import mask_tracebacks
    from runtime.guard.masks import Mask

    mask = Mask(settings.secret_values())
    mask_tracebacks(mask)
    return mask


def ask_operator(settings: Settings, work: Callable[[OperatorApi], Awaitable[Answer]]) -> Answer:
    """Do `work` with the running process, or with the store itself when none runs."""
    return run(_asked(settings, work))


def run(work: Coroutine[Any, Any, Answer]) -> Answer:
    return asyncio.run(work)


def none_running(settings: Settings) -> BotError:
    """The reason for which a command that needs the running process finds none."""
    folder, there = settings.data_dir, ""
    try:
        if not S_ISDIR(folder.stat().st_mode):
            there = ", which is no folder"
        elif not os.access(folder, os.R_OK | os.X_OK):
            return BotError(NOT_READABLE.format(folder=folder))
    except PermissionError:
        return BotError(NOT_READABLE.format(folder=folder))
    except OSError:
        there = ", which isn't there"
    return BotError(NONE_RUNNING.format(folder=folder, there=there, file=settings.file or "no settings file"))


async def reachable(settings: Settings) -> Control | None:
    """Address and token of the running process, after waiting for one that is starting. None if none runs."""
    from bot.node.lock import control_of, holder

    for _ in range(int(STARTING / POLL_SECONDS)):
        if control := control_of(settings.data_dir):
            return control
        if holder(settings.data_dir) is None:
            return None
        await asyncio.sleep(POLL_SECONDS)
    return None


@dataclass(frozen=True, slots=True)
class Which:
    """The thing that a command is about: by `words`, or with `last` the first of `newest`. Errors: ConfigError."""

    words: str
    last: bool
    kind: str
    newest: Callable[[OperatorApi], Awaitable[Sequence[Mapping[str, Any]]]]

    def __post_init__(self) -> None:
        if bool(self.words) == self.last:
            raise ConfigError(f"Name one {self.kind}, or take the newest with --last.")

    async def of(self, api: OperatorApi) -> str:
        """Errors: Refusal where there is none."""
        if self.words:
            return self.words
        from runtime.http.errors import Refusal

        if not (found := await self.newest(api)):
            raise Refusal(404, f"There is no such {self.kind}.")
        return str(found[0]["id"])


def ask_about(
    context: typer.Context, config: Path | None, which: Which, work: Callable[[OperatorApi, str], Awaitable[Answer]]
) -> Answer:
    """Do `work` with the id of the thing that is meant, as `ask_operator` does. Errors: Refusal where there is none."""

    async def found(api: OperatorApi) -> Answer:
        return await work(api, await which.of(api))

    return ask_operator(settings_of(context, config), found)


async def _asked(settings: Settings, work: Callable[[OperatorApi], Awaitable[Answer]]) -> Answer:
    async with _operator_api(settings) as api:
        return await work(api)


@asynccontextmanager
async def _operator_api(settings: Settings) -> AsyncIterator[OperatorApi]:
    if control := await reachable(settings):
        from bot.operator.client import connected

        async with connected(control) as client:
            yield client
    else:
        from bot.operator.local import opened

        async with opened(settings.with_secrets("database_url")) as operations:
            yield operations


def place_of(room: str) -> str:
    """The address that `--room` gives; a name would fit no rule that is about a room, and nobody would notice."""
    from runtime.contract import Address

    try:
        return str(Address.parse(room)) if room else ""
    except ValueError:
        raise ConfigError(f"--room {room}: expected an address as rules write it, such as slack:work/C1.") from None
