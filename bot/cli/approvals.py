"""`signalbox approvals`: questions that wait for a person. `signalbox grants`: answers that hold for later calls."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from bot.node.invocation import as_called
from bot.terminal.options import AsJson, ConfigFile, InRoom, Last, Which, WithIds, ask_about, ask_operator, settings_of
from bot.terminal.output import by_name, clean, show_facts, show_json, show_rows, tell

if TYPE_CHECKING:
    from bot.operator.api import OperatorApi

    Pressed = Callable[[OperatorApi, str], Awaitable[dict[str, Any]]]

commands = typer.Typer(no_args_is_help=True, help="Questions about risky calls: list and answer them.")
standing = typer.Typer(
    no_args_is_help=True, help="Grants, which let calls run without asking: list, show and revoke them."
)


def add_to(cli: typer.Typer) -> None:
    cli.add_typer(commands, name="approvals")
    cli.add_typer(standing, name="grants")


ID_HELP: Final = "Its id, as `approvals list` shows it, or the first characters."
MaybeApproval = Annotated[str, typer.Argument(metavar="[ID]", show_default=False, help=ID_HELP)]
Reason = Annotated[str, typer.Option("--reason", help="The agent reads it, and the card shows it.")]
APPROVAL_COLUMNS = {
    "id": "Id",
    "state": "State",
    "tool": "Tool",
    "call": "Call or question",
    "asked_at": "Asked",
    "room": "Room",
}
LISTED_MAX_CHARS: Final = 120
"""Characters of a call in the list; `show` has all of it."""
SHOWN: Final = {
    "id": "Id",
    "state": "State",
    "effect": "Effect",
    "room": "Room",
    "requester": "Asked by",
    "rule": "Rule",
    "rule_reason": "Why it asks",
    "votes": "Votes",
    "asked_at": "Asked",
    "expires_at": "Expires",
    "caution": "Note",
    "decided_by": "Decided by",
    "decided_at": "Decided",
    "reason": "Reason",
}
"""Facts of one question, as far as they are known."""
STORED: Final = (
    "No Signalbox is running: this is stored, and something comes of it when one starts: signalbox run\n"
    "Then see what came of it: signalbox trace {id}"
)


@commands.command("list")
def list_(
    context: typer.Context,
    everything: Annotated[bool, typer.Option("--all", help="Include closed ones.")] = False,
    room: InRoom = "",
    person: Annotated[str, typer.Option("--person", metavar="NAME", help="Only what this person asked for.")] = "",
    ids: WithIds = False,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """List waiting questions, oldest first; with --all every question, newest first."""
    state, order = ("", "newest") if everything else ("pending", "oldest")
    rows = ask_operator(
        settings_of(context, config), lambda api: api.approvals(state, room=room, person=person, order=order)
    )
    if as_json:
        show_json(rows)
        return
    from runtime.text.glyphs import clip, in_a_line

    shown = [{**row, "call": clip(in_a_line(row["words"]), LISTED_MAX_CHARS)} for row in rows]
    show_rows(shown, by_name(APPROVAL_COLUMNS, with_ids=ids), empty="Nothing is waiting for a decision.")


@commands.command()
def show(
    context: typer.Context,
    approval: MaybeApproval = "",
    last: Last = False,
    room: InRoom = "",
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Show one question, with its whole call and its outcome."""
    which = Which(approval, last, "question", lambda api: api.approvals("", 1, room))  # also one that was decided
    row = ask_about(context, config, which, lambda api, one: api.approval(one))
    if as_json:
        show_json(row)
        return
    shown = {"Question": row["question"], **{head: row[key] for key, head in SHOWN.items() if row[key]}}
    if row["state"] == "pending" and row["kind"] != "call":
        shown["Answers"] = ", ".join(f"{choice} ({label})" for choice, label in row["choices"].items())
    show_facts(shown.items())
    typer.echo(f"\n{clean(row['call'])}")
    for one in row["asked_back"]:
        answer = one["answer"] or (f"No answer: {one['failed']}" if one["failed"] else "The agent is answering.")
        typer.echo(f"\n{clean(one['by'])} asked: {clean(one['question'])}\n{clean(answer)}")


@commands.command()
def ask(
    context: typer.Context,
    approval: Annotated[str, typer.Argument(metavar="ID", help=ID_HELP)],
    question: Annotated[
        str,
        typer.Argument(metavar="[QUESTION]", show_default=False, help="Default: Why do you want to do this?"),
    ] = "",
    config: ConfigFile = None,
) -> None:
    """Ask the agent about a waiting call. Its answer comes beneath the card, and in `approvals show`."""
    made = _pressed(context, config, _question(approval), lambda api, one: api.ask_back(one, question))
    typer.echo(f"{made['tool']}: asked. `signalbox approvals show {approval}` has the answer.")
    _tell_later(made)


@commands.command()
def approve(
    context: typer.Context,
    approval: MaybeApproval = "",
    last: Last = False,
    room: InRoom = "",
    reason: Reason = "",
    config: ConfigFile = None,
) -> None:
    """Let the call run."""
    _answer(context, config, _question(approval, last, room), "approve", reason)


@commands.command()
def deny(
    context: typer.Context,
    approval: MaybeApproval = "",
    last: Last = False,
    room: InRoom = "",
    reason: Reason = "",
    config: ConfigFile = None,
) -> None:
    """Don't let the call run."""
    _answer(context, config, _question(approval, last, room), "deny", reason)


@commands.command()
def edit(
    context: typer.Context,
    arguments: Annotated[str, typer.Option("--arguments", metavar="JSON", help="All arguments, as one JSON object.")],
    approval: MaybeApproval = "",
    last: Last = False,
    room: InRoom = "",
    config: ConfigFile = None,
) -> None:
    """Let the call run with other arguments."""
    _decide(context, config, _question(approval, last, room), lambda api, one: api.edit(one, arguments))


@commands.command()
def answer(
    context: typer.Context,
    approval: MaybeApproval = "",
    choice: Annotated[
        str,
        typer.Argument(
            metavar="CHOICE",
            show_default=False,
            help="For a call that was cut off: done, again or skip. For another call: conversation or all. For a question to a person: one of its answers, or text with --reason. For a stranger: user, viewer, operator or no.",
        ),
    ] = "",
    last: Last = False,
    room: InRoom = "",
    reason: Reason = "",
    config: ConfigFile = None,
) -> None:
    """Say what happened to a call that was cut off, answer the agent's question, or decide about a stranger."""
    if last and not choice:
        approval, choice = "", approval  # the only word: --last takes the place of the id
    if not choice:
        raise typer.BadParameter("Name the question by its id (or --last), and give your answer.", context)
    _answer(context, config, _question(approval, last, room), choice, reason)


def _question(approval: str, last: bool = False, room: str = "") -> Which:
    """By its id, or the newest that waits, in one room or anywhere."""
    return Which(approval, last, "question", lambda api: api.approvals("pending", 1, room))


def _answer(context: typer.Context, config: ConfigFile, which: Which, choice: str, reason: str) -> None:
    _decide(context, config, which, lambda api, one: api.decide(one, choice, reason))


def _decide(context: typer.Context, config: ConfigFile, which: Which, decide: Pressed) -> None:
    made = _pressed(context, config, which, decide)
    typer.echo(f"{made['tool']}: {made['state']}.")
    _tell_later(made)


def _pressed(context: typer.Context, config: ConfigFile, which: Which, press: Pressed) -> dict[str, Any]:
    """Answer a question; and see whether a node is live, which acts on it."""

    from bot.operator.client import Gone

    async def pressed(api: OperatorApi, one: str) -> dict[str, Any]:
        made, acts = await press(api, one), False
        with suppress(Gone):  # its process went just now
            acts = any(node["state"] == "live" for node in await api.nodes())
        return {**made, "acts": acts}

    return ask_about(context, config, which, pressed)


def _tell_later(made: Mapping[str, Any]) -> None:
    """Say, where nobody acts on an answer now, what it takes."""
    if not made["acts"]:
        tell(as_called(STORED.format(id=made["id"])))


# ---------------------------------------------------------------------------------------------------------------- grants

GrantArgument = Annotated[
    str,
    typer.Argument(
        metavar="[ID]", show_default=False, help="Its id, as `grants list` shows it, or the first characters."
    ),
]
GRANT_COLUMNS: Final = {
    "id": "Id",
    "state": "State",
    "tool": "Tool",
    "brief": "Arguments",
    "where": "Where",
    "room": "Room",
    "person": "For",
    "until": "Until",
    "uses": "Uses left",
    "by": "By",
}
GRANT_FACTS: Final = {
    "id": "Id",
    "state": "State",
    "tool": "Tool",
    "where": "Where",
    "room": "Room",
    "person": "For",
    "agent": "Agent",
    "by": "By",
    "created_at": "Given",
    "until": "Until",
    "revoked_at": "Revoked",
    "approval": "Question",
}


@standing.command("list")
def list_grants(
    context: typer.Context,
    everything: Annotated[bool, typer.Option("--all", help="Include ended ones.")] = False,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """List grants, newest first."""
    rows = ask_operator(settings_of(context, config), lambda api: api.grants())
    rows = [row for row in rows if everything or row["state"] in ("active", "no effect")]
    if as_json:
        show_json(rows)
        return
    shown = [{**row, "uses": _uses(row["uses_left"])} for row in rows]
    show_rows(shown, GRANT_COLUMNS, empty="There are no grants.")


@standing.command("show")
def show_grant(
    context: typer.Context,
    grant: GrantArgument = "",
    last: Last = False,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Show one grant, with the pattern of its arguments."""
    row = ask_about(context, config, _grant(grant, last), lambda api, one: api.grant(one))
    if as_json:
        show_json(row)
        return
    known = ((head, row[name]) for name, head in GRANT_FACTS.items() if row[name])
    outside = "holds" if row["tainted"] else "asks if the call reaches out of the conversation"
    show_facts([*known, ("Uses left", _uses(row["uses_left"])), ("After outside text", outside)])
    typer.echo(f"\n{clean(row['pattern'])}")


@standing.command()
def revoke(context: typer.Context, grant: GrantArgument = "", last: Last = False, config: ConfigFile = None) -> None:
    """End a grant: its calls need approval again."""
    row = ask_about(context, config, _grant(grant, last), lambda api, one: api.revoke(one))
    typer.echo(clean(f"Ended. {row['tool']} needs approval again: {row['brief']}"))


def _grant(grant: str, last: bool) -> Which:
    return Which(grant, last, "grant", lambda api: api.grants())


def _uses(left: int | None) -> str:
    return "no limit" if left is None else str(left)
