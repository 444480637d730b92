"""`signalbox people forget`, `people forgotten` and `people export`: somebody's right to be forgotten, and to know."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from bot.cli.safety.audit_file import fresh_file
from bot.terminal.options import AsJson, ConfigFile, Yes, ask_first, ask_operator, settings_of
from bot.terminal.output import show_json, show_rows, tell

if TYPE_CHECKING:
    from bot.operator.api import OperatorApi
    from bot.operator.views import View
    from bot.settings.settings import Settings

Name = Annotated[str, typer.Argument(metavar="NAME")]
FORGOTTEN_COLUMNS: Final = {"mark": "Mark", "began_at": "Since", "progress": "Stage", "rows": "Rows"}
STAGE_WORDS: Final = {
    "ending": "ending their work",
    "waiting": "waiting for work of others that is under way",
    "files": "removing files",
    "tables": "looking through all tables",
    "waiting again": "waiting for work of others once more",
    "tables again": "looking through all tables once more",
    "audit": "taking them out of the audit",
    "messages": "removing their messages",
    "traces": "clearing indexes",
}
SLICE_PAUSE_SECONDS: Final = 0.005


def add_to(commands: typer.Typer) -> None:
    commands.command()(forget)
    commands.command()(forgotten)
    commands.command()(export)


def forget(context: typer.Context, name: Name, yes: Yes = False, config: ConfigFile = None) -> None:
    """Forget a person for good: what they wrote, what was answered to them, their conversations, files, memories and schedules.

    Says first what that means. In what others wrote and decided, a mark stands in place of their name; the audit stays verifiable.
    It goes on after a kill. If it's cut off, the next start of Signalbox ends it.
    """
    settings = settings_of(context, config)
    _tell_first(ask_operator(settings, lambda api: api.forget_person(name)))
    ask_first(yes, f"Forget {name} for good")
    ended = ask_operator(settings, lambda api: _forgotten(api, name))
    typer.echo(f"{name} is forgotten: {ended['rows']:,} rows changed or removed. Their mark is {ended['mark']}.")


def _tell_first(known: View) -> None:
    tell(known["told"])
    if known["also_called"]:
        tell(f"Also known as {', '.join(known['also_called'])}.")
    tell("What Signalbox doesn't reach:")
    for place in known["outside"]:
        tell(f"- {place}")


async def _forgotten(api: OperatorApi, name: str) -> View:
    now = await api.forget_person(name, confirm=name)
    if now["unanswered"]:
        tell(f"Nobody may answer these questions now: {', '.join(now['unanswered'])}. Name other approvers.")
    stage = ""
    while not now["done"]:
        if now["stage"] != stage:
            stage = now["stage"]
            tell(f"{now['step']} of {now['of']}: {STAGE_WORDS.get(stage, stage)}")
        now = await api.continue_forgetting(now["id"])
        await asyncio.sleep(SLICE_PAUSE_SECONDS)
    return now


def forgotten(context: typer.Context, as_json: AsJson = False, config: ConfigFile = None) -> None:
    """List people who were forgotten, by their marks, and how far it is with those who are being forgotten."""
    rows = ask_operator(settings_of(context, config), lambda api: api.forgettings())
    if as_json:
        show_json(rows)
        return
    shown = [{**row, "progress": "done" if row["done"] else f"{row['step']} of {row['of']}"} for row in rows]
    show_rows(shown, FORGOTTEN_COLUMNS, empty="Nobody was forgotten here.")


def export(
    context: typer.Context,
    name: Name,
    to: Annotated[Path, typer.Argument(metavar="FILE", help="A zip file that isn't there yet.")],
    config: ConfigFile = None,
) -> None:
    """Write all that is known of a person into a zip file: a file of JSON lines for each table, and their files.

    It holds their own rows, and those of others that name them. The audit notes who asked for it.
    """
    settings = settings_of(context, config)
    rows = ask_operator(settings, lambda api: _exported(api, settings, name, to))
    typer.echo(f"{to} holds {rows:,} rows about {name}.")


async def _exported(api: OperatorApi, settings: Settings, name: str, to: Path) -> int:
    from bot.operator.access.exporting import export_to
    from bot.wiring.agents import manifests_of
    from bot.wiring.safety.forgetting import folders_of

    with fresh_file(to, "wb") as file:
        return await export_to(file, api, folders_of(settings, [*manifests_of(settings)]), name)
