"""`signalbox approvals`: questions that wait for a person."""

from __future__ import annotations

from typing import Annotated

import typer

from bot.cli.options import AsJson, ConfigFile, ask_office, settings_of
from bot.cli.output import show_json, show_rows

commands = typer.Typer(no_args_is_help=True, help="Questions about risky calls: list and answer them.")

ApprovalArgument = Annotated[str, typer.Argument(metavar="ID", help="As `approvals list` shows it.")]
Reason = Annotated[str, typer.Option("--reason", help="Told to the agent and shown on the card.")]
COLUMNS = {
    "id": "Id",
    "state": "State",
    "tool": "Tool",
    "call": "Arguments",
    "asked_at": "Asked",
    "address": "Room",
}


@commands.command("list")
def list_(
    context: typer.Context,
    everything: Annotated[bool, typer.Option("--all", help="Settled ones too.")] = False,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Those that wait, newest first."""
    state = "" if everything else "pending"
    rows = ask_office(settings_of(context, config), lambda office: office.approvals(state))
    if as_json:
        show_json(rows)
        return
    from runtime.markup.arguments import in_a_line

    shown = [{**row, "call": in_a_line(row["arguments"])} for row in rows]
    show_rows(shown, COLUMNS, empty="Nothing waits for a decision.")


@commands.command()
def approve(context: typer.Context, approval: ApprovalArgument, reason: Reason = "", config: ConfigFile = None) -> None:
    """Let the call run."""
    _answer(context, config, approval, "approve", reason)


@commands.command()
def deny(context: typer.Context, approval: ApprovalArgument, reason: Reason = "", config: ConfigFile = None) -> None:
    """Do not let the call run."""
    _answer(context, config, approval, "deny", reason)


@commands.command()
def answer(
    context: typer.Context,
    approval: ApprovalArgument,
    choice: Annotated[str, typer.Argument(metavar="done|again|skip")],
    reason: Reason = "",
    config: ConfigFile = None,
) -> None:
    """Say what became of a call that was cut off."""
    _answer(context, config, approval, choice, reason)


def _answer(context: typer.Context, config: ConfigFile, approval: str, choice: str, reason: str) -> None:
    made = ask_office(settings_of(context, config), lambda office: office.decide(approval, choice, reason))
    typer.echo(f"{made['tool']}: {made['state']}.")
