"""`signalbox memory`: what agents keep for rooms, for themselves and for all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from bot.terminal.options import AsJson, ConfigFile, InRoom, Yes, ask_first, ask_operator, settings_of
from bot.terminal.output import clean, json_text, show_facts, show_json, show_rows, word

if TYPE_CHECKING:
    from bot.operator.views import View

commands = typer.Typer(
    no_args_is_help=True, help="Memories of rooms, agents and all: list, show, write, accept, delete and export them."
)


def add_to(cli: typer.Typer) -> None:
    cli.add_typer(commands, name="memory")


MemoryId = Annotated[
    str, typer.Argument(metavar="ID", show_default=False, help="Its id, or the last characters that `list` shows.")
]
OfAgent = Annotated[str, typer.Option("--agent", help="Only this agent's, such as main.")]
MEMORY_COLUMNS: Final = {
    "short": "Id",
    "text": "Memory",
    "for": "For",
    "agent": "Agent",
    "trust": "Trust",
    "by": "Said by",
    "uses": "Used",
}
MEMORY_FACTS: Final = {
    "id": "Id",
    "text": "Memory",
    "for": "For",
    "address": "Address",
    "agent": "Agent",
    "subject": "Subject",
    "relation": "Relation",
    "object": "Object",
    "trust": "Trust",
    "by": "Said by",
    "run": "Run",
    "uses": "Used",
    "used_at": "Last used",
    "valid_from": "Since",
    "expires_at": "Until",
}
COUNT_COLUMNS: Final = {"for": "For", "agent": "Agent", "count": "Memories"}
EXPORTED_MAX: Final = 100_000
FOR_WORDS: Final = {"agent": "its rooms", "all": "all agents"}


@commands.command("list")
def list_(
    context: typer.Context,
    agent: OfAgent = "",
    scope: Annotated[str, typer.Option("--scope", help="person (your own), room, agent or all.")] = "",
    room: InRoom = "",
    counts: Annotated[bool, typer.Option("--counts", help="Only how many there are, also of people.")] = False,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """List memories, newest first. Of what is kept for people, you see your own."""
    settings = settings_of(context, config)
    if counts:
        rows = ask_operator(settings, lambda api: api.memory_counts())
    else:
        rows = ask_operator(settings, lambda api: api.memories(agent, scope, room))
    if as_json:
        show_json(rows)
        return
    show_rows([_named(row) for row in rows], COUNT_COLUMNS if counts else MEMORY_COLUMNS, empty="Nothing is kept.")


@commands.command()
def get(context: typer.Context, memory: MemoryId, as_json: AsJson = False, config: ConfigFile = None) -> None:
    """Show one memory, with where it comes from."""
    row = ask_operator(settings_of(context, config), lambda api: api.memory(memory))
    if as_json:
        show_json(row)
        return
    told = _named(row)
    show_facts((title, told[name]) for name, title in MEMORY_FACTS.items() if told[name])


@commands.command("set")
def set_(
    context: typer.Context,
    text: Annotated[str, typer.Argument(show_default=False, help="A sentence that stands alone.")],
    scope: Annotated[str, typer.Option("--scope", help="Who has it read: all, agent or room.")] = "all",
    agent: Annotated[str, typer.Option("--agent", help="Whose it is, unless it is for all.")] = "",
    room: Annotated[str, typer.Option("--room", help="The room, for one room alone.")] = "",
    subject: Annotated[str, typer.Option("--subject", help="Whom or what it's about.")] = "",
    relation: Annotated[
        str, typer.Option("--relation", help="What of it: a new one of the same subject replaces it.")
    ] = "",
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Keep something for all agents, for one, or for a room."""
    _tell(
        ask_operator(
            settings_of(context, config), lambda api: api.put_memory(text, scope, agent, room, subject, relation)
        ),
        as_json,
    )


@commands.command()
def accept(context: typer.Context, memory: MemoryId, as_json: AsJson = False, config: ConfigFile = None) -> None:
    """Make a proposal count, as if a person had said it."""
    _tell(ask_operator(settings_of(context, config), lambda api: api.accept_memory(memory)), as_json)


@commands.command()
def delete(
    context: typer.Context,
    memory: MemoryId,
    yes: Yes = False,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Forget one for good. A backup that still has it is restored without it."""
    ask_first(yes, f"Forget {memory} for good")
    _tell(ask_operator(settings_of(context, config), lambda api: api.delete_memory(memory)), as_json)


@commands.command()
def export(context: typer.Context, agent: OfAgent = "", config: ConfigFile = None) -> None:
    """Print all memories as JSON, one a line. Of what is kept for people, yours alone."""
    rows = ask_operator(settings_of(context, config), lambda api: api.memories(agent, limit=EXPORTED_MAX))
    for row in rows:
        typer.echo(json_text(row))


def _named(row: View) -> View:
    whose = row["room"] or row["person"] or FOR_WORDS[row["scope"]]
    by = row.get("by") or (f"from {row['origin']}" if row.get("origin") else "")
    return {**row, "for": clean(whose), "agent": row["agent"] or "all", "by": clean(by)}


def _tell(row: View, as_json: bool) -> None:
    if as_json:
        show_json(row)
    else:
        typer.echo(word(row["told"]))
