"""`signalbox config set` and `unset`: the file changed on its machine, noted in the audit, and taken over by the process."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from bot.settings.editing.by_command import CommandEdit, edit_by_command, is_secret_setting
from bot.settings.editing.file import replace_file
from bot.terminal.options import ask_operator, asking
from bot.terminal.output import clean, tell
from runtime.errors import ConfigError

if TYPE_CHECKING:
    from bot.operator.api import OperatorApi
    from bot.operator.views import View
    from bot.settings.settings import Settings

FROM_INPUT: Final = "-"
NOT_ON_THE_LINE: Final = (
    "{name} is a secret, or may hold one, and others on this machine can read command lines. Give - as its value and pipe it in, "
    "or better seal it: signalbox secrets set"
)
AT_NEXT_START: Final = "No Signalbox runs: the next start takes it over."
NOT_HEARD: Final = (
    "{file} is saved, but the running process didn't say that it took it over: {why} Run: signalbox reload"
)
UNDONE: Final = "The settings were not taken over, so the file is as it was: {why}"


def given_value(name: str, value: str) -> str:
    """The value of a command line; of `-` that of the input, which for a secret is the only way. Errors: ConfigError."""
    secret = is_secret_setting(name)
    if value != FROM_INPUT:
        if secret:
            raise ConfigError(NOT_ON_THE_LINE.format(name=name))
        return value
    if ask := asking():
        return ask(f"Value of {name}") if secret else input()
    return sys.stdin.read().rstrip("\n")


def change_setting(
    settings: Settings, name: str, given: str | None, mask: Callable[[str], str], *, dry_run: bool
) -> None:
    """Show the change, and unless it's a `dry_run`, make it. Errors: ConfigError with every fault; then nothing is changed."""
    edit = edit_by_command(settings, name, given, mask)
    sys.stdout.write(f"{clean(edit.diff or edit.words)}\n")  # masked, two secrets are alike
    for note in edit.notes:
        tell(note)
    if dry_run:
        return
    if settings.database_file is not None and not settings.database_file.exists():
        replace_file(edit.text.place, edit.text.digest, edit.fresh)
        told = AT_NEXT_START  # no database either, so no audit
    else:
        told = ask_operator(settings, lambda api: _written(api, edit))
    sys.stdout.write(f"{edit.text.path} is saved. {told}\n")


async def _written(api: OperatorApi, edit: CommandEdit) -> str:
    """Note it, write it, and have it taken over; put back where that fails. Errors: ConfigError, Refusal."""
    about = {"names": edit.name, "details": edit.words, "digest": edit.text.digest}
    noted = await api.settings_edited(about)
    try:
        digest = await asyncio.to_thread(replace_file, edit.text.place, edit.text.digest, edit.fresh)
    except ConfigError as error:
        await api.settings_edited({"names": edit.name, "undone": str(error)})
        raise
    if not noted["is_at_work"]:
        return AT_NEXT_START
    from bot.operator.client import Gone
    from runtime.http.errors import Refusal

    try:
        return _taken(await api.reload())
    except Gone as error:
        raise ConfigError(NOT_HEARD.format(file=edit.text.path, why=error)) from error
    except Refusal as refusal:
        await asyncio.to_thread(replace_file, edit.text.place, digest, edit.text.text)
        await api.settings_edited({"names": edit.name, "undone": "they were not taken over"})
        raise ConfigError(UNDONE.format(why=refusal.sentence)) from refusal


def _taken(told: View) -> str:
    waits = [*told.get("restart", ())]
    return f"With a restart: {', '.join(waits)}" if waits else "It holds now."
