"""`signalbox schedules`: work by the clock, seen and changed; and when an expression is due."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from bot.node.invocation import as_called
from bot.terminal.options import (
    Answer,
    AsJson,
    ConfigFile,
    InRoom,
    Last,
    Which,
    WithIds,
    Yes,
    ask_about,
    ask_first,
    ask_operator,
    settings_of,
)
from bot.terminal.output import clean, show_facts, show_json, show_rows, tell, word
from bot.terminal.schedule_options import (
    CatchUp,
    Ends,
    InThread,
    Jitter,
    Misfire,
    MostCost,
    Option,
    Quiet,
    Report,
    Starts,
    TemplateFile,
    To,
    Window,
    Zone,
)
from runtime.errors import ConfigError

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from bot.operator.api import OperatorApi
    from bot.operator.views import View

commands = typer.Typer(
    no_args_is_help=True, help="Scheduled work: list, plan, change, pause and run it, and see when it is due."
)


def add_to(cli: typer.Typer) -> None:
    cli.add_typer(commands, name="schedules")


INSTANT: Final = "2026-03-29T00:00:00Z, 2026-03-29T02:00+01:00, or without an offset in the zone's local time"


ScheduleArgument = Annotated[
    str,
    typer.Argument(
        metavar="[NAME]",
        show_default=False,
        help="Its name or id, as `schedules list` shows them, or the first characters of the id.",
    ),
]
SCHEDULE_COLUMNS: Final = {
    "name": "Name",
    "state": "State",
    "due": "Next",
    "when": "When",
    "rooms": "Rooms",
    "by": "By",
    "id": "Id",
}
PAST: Final = {
    "planned_at": "Planned",
    "state": "State",
    "rooms": "Shown",
    "attempts": "Tries",
    "run": "Run",
    "reason": "Reason",
}
TERMS: Final = {"jitter_seconds": "Jitter (s)", "quiet": "Quiet", "max_cost": "Daily limit"}


@commands.command("list")
def list_(
    context: typer.Context,
    state: Annotated[str, typer.Option("--state", help="active, paused or ended.")] = "",
    room: InRoom = "",
    ids: WithIds = False,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """List schedules, next due first and ended ones last."""
    rows = ask_operator(settings_of(context, config), lambda api: api.schedules(state, room))
    if as_json:
        show_json(rows)
    else:
        show_rows([_row(row, with_ids=ids) for row in rows], SCHEDULE_COLUMNS, empty="There are no schedules.")


@commands.command()
def show(
    context: typer.Context,
    name: ScheduleArgument = "",
    last: Last = False,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Show one schedule, with its next five times and its last twenty runs."""
    row = _done(context, config, name, last, lambda api, name: api.schedule(name))
    if as_json:
        show_json(row)
        return
    show_facts(_facts(row))
    typer.echo(f"\n{clean(row['task'])}\n")
    for at in row["next"]:
        typer.echo(f"Next  {_in_zone(at, row['zone'])}")
    typer.echo()
    show_rows([_past(one) for one in row["history"]], PAST, empty="It hasn't been due yet.")


@commands.command()
def add(
    context: typer.Context,
    when: Annotated[str, typer.Argument(metavar="WHEN", help='As for `schedules next`: "every weekday at 9".')],
    task: Annotated[str, typer.Argument(metavar="[TASK]", help="What the agent should do, in words.")] = "",
    to: To = None,
    name: Annotated[str, typer.Option("--name", help="Its name; made from the task if you give none.")] = "",
    zone: Zone = "",
    template_file: TemplateFile = None,
    report: Report = "",
    option: Option = None,
    misfire: Misfire = "",
    catch_up: CatchUp = None,
    window_minutes: Window = None,
    jitter_seconds: Jitter = None,
    thread: InThread = "",
    quiet: Quiet = None,
    max_cost: MostCost = None,
    starts: Starts = "",
    ends: Ends = "",
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Plan work. It acts as you, the owner, and reports to the rooms you name."""
    fields = {
        "when": when,
        "name": name,
        "zone": zone,
        "starts": starts,
        "ends": ends,
        "to": to,
        **_task(task, template_file, report, option),
        **_terms(misfire, catch_up, window_minutes, jitter_seconds, thread, quiet, max_cost),
    }
    row = ask_operator(settings_of(context, config), lambda api: api.add_schedule(_given(fields)))
    _tell_of(row, as_json)


@commands.command()
def change(
    context: typer.Context,
    name: ScheduleArgument = "",
    last: Last = False,
    when: Annotated[str, typer.Option("--when", metavar="WHEN", help="When it is due.")] = "",
    task: Annotated[str, typer.Option("--task", help="What the agent should do, in words.")] = "",
    to: To = None,
    new_name: Annotated[str, typer.Option("--name", help="Another name.")] = "",
    zone: Zone = "",
    template_file: TemplateFile = None,
    report: Report = "",
    option: Option = None,
    misfire: Misfire = "",
    catch_up: CatchUp = None,
    window_minutes: Window = None,
    jitter_seconds: Jitter = None,
    thread: InThread = "",
    quiet: Quiet = None,
    max_cost: MostCost = None,
    starts: Starts = "",
    ends: Ends = "",
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Change a schedule; what you don't name stays. Schedules from the settings file are changed there."""
    fields = {
        "when": when,
        "name": new_name,
        "zone": zone,
        "starts": starts,
        "ends": ends,
        "to": to,
        **_task(task, template_file, report, option),
        **_terms(misfire, catch_up, window_minutes, jitter_seconds, thread, quiet, max_cost),
    }
    if not (given := _given(fields)):
        raise ConfigError("Say what to change, for example: --when 'every weekday at 9'")
    row = _done(context, config, name, last, lambda api, name: api.change_schedule(name, given))
    _tell_of(row, as_json)


@commands.command()
def pause(
    context: typer.Context,
    name: ScheduleArgument = "",
    last: Last = False,
    reason: Annotated[str, typer.Option("--reason", help="The reason, shown beside it.")] = "",
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Pause a schedule until it is resumed."""
    row = _done(context, config, name, last, lambda api, name: api.pause_schedule(name, reason))
    _tell_of(row, as_json)


@commands.command()
def resume(
    context: typer.Context,
    name: ScheduleArgument = "",
    last: Last = False,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Resume a schedule and reset its failures. Missed runs are skipped."""
    _tell_of(_done(context, config, name, last, lambda api, name: api.resume_schedule(name)), as_json)


@commands.command()
def remove(
    context: typer.Context,
    name: ScheduleArgument = "",
    last: Last = False,
    yes: Yes = False,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Remove a schedule. What it did stays in the trace and the audit."""
    ask_first(yes, f"Remove {f'the schedule {name}' if name else 'the newest schedule'}")
    made = _done(context, config, name, last, lambda api, name: api.remove_schedule(name))
    if as_json:
        show_json(made)
    else:
        typer.echo(f"{word(made['name'])}: removed.")


@commands.command("run")
def run_(
    context: typer.Context,
    name: ScheduleArgument = "",
    last: Last = False,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Run a schedule once, now. If Signalbox isn't running, the next start does it."""
    made = _done(context, config, name, last, lambda api, name: api.run_schedule(name))
    if as_json:
        show_json(made)
    else:
        typer.echo(as_called(f"{word(made['name'])}: started. To follow it: signalbox trace {made['run']}"))


@commands.command()
def history(
    context: typer.Context,
    name: ScheduleArgument = "",
    last: Last = False,
    limit: Annotated[int, typer.Option("--limit", min=1, max=500, metavar="N", help="How many.")] = 20,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Show a schedule's past runs, newest first: done, skipped and failed, with the reason."""
    rows = _done(context, config, name, last, lambda api, name: api.schedule_history(name, limit))
    if as_json:
        show_json(rows)
    else:
        show_rows([_past(row) for row in rows], PAST, empty="It hasn't been due yet.")


@commands.command("next")
def next_(
    when: Annotated[
        str,
        typer.Argument(
            metavar="WHEN", help='Cron, such as "0 9 * * 1-5", or words, such as "every weekday at 9:30 in Berlin".'
        ),
    ],
    zone: Annotated[
        str, typer.Option("--zone", metavar="ZONE", help="Time zone, unless the expression names one.")
    ] = "UTC",
    since: Annotated[
        str,
        typer.Option("--from", metavar="INSTANT", help="Show times after this; intervals count from it. Default: now."),
    ] = "",
    count: Annotated[int, typer.Option("--count", min=1, max=1000, metavar="N", help="How many times to show.")] = 5,
    as_json: AsJson = False,
) -> None:
    """Show the next times of an expression or a phrase, in its zone and in UTC. Needs no settings and no store."""
    from runtime.calendar import WhenError, in_words, instants, plan, zone_named

    try:
        after = _instant(since, zone_named(zone))
        planned = plan(when, zone=zone, now=after)
    except WhenError as error:
        raise ConfigError(str(error)) from None
    found = list(instants(planned, after, anchor=after, most=count))
    if as_json:
        show_json([_utc(at) for at in found])
        return
    tell(in_words(planned))
    for at in found:
        typer.echo(f"{at.astimezone(zone_named(planned.zone)):%a %Y-%m-%d %H:%M:%S %Z}  {_utc(at)}")


def _done(
    context: typer.Context,
    config: ConfigFile,
    name: str,
    last: bool,
    work: Callable[[OperatorApi, str], Awaitable[Answer]],
) -> Answer:
    """`work` with the schedule that is meant: by `name`, or the one that was made last."""

    async def newest(api: OperatorApi) -> list[View]:
        every = await api.schedules()
        return sorted(every, key=lambda row: (row["created_at"], not row["by_file"], row["id"]), reverse=True)

    return ask_about(context, config, Which(name, last, "schedule", newest), work)


def _tell_of(row: View, as_json: bool) -> None:
    if as_json:
        show_json(row)
        return
    due = f" Next: {_in_zone(row['next'][0], row['zone'])}." if row["next"] else ""
    typer.echo(f"{word(row['name'])}: {row['state']}, {row['when']}.{due}")


def _row(row: View, *, with_ids: bool) -> View:
    due = _in_zone(row["next"][0], row["zone"]) if row["next"] else ""
    return {**row, "due": due, "by": _by(row), "rooms": row["to"] if with_ids else row["rooms"]}


def _by(row: View) -> str:
    return "settings file" if row["by_file"] else row["owner"]


def _past(row: View) -> View:
    reason = row["reason"] or ("no news" if row["silent"] else "run by hand" if row["manual"] else "")
    return {**row, "rooms": f"{row['shown']}/{row['wanted']}" if row["wanted"] else "", "reason": reason}


def _facts(row: View) -> list[tuple[str, object]]:
    terms = row["terms"]
    return [
        ("Id", row["id"]),
        ("Name", row["name"]),
        ("State", row["state"]),
        *([("Reason", row["reason"])] if row["reason"] else []),
        *([("Failures", row["failures"])] if row["failures"] else []),
        ("When", row["when"]),
        ("Rooms", row["rooms"]),
        *([("Addresses", row["to"])] if row["to"] != row["rooms"] else []),
        ("By", _by(row)),
        *((title, row[name]) for name, title in (("starts_at", "Not before"), ("ends_at", "Not after")) if row[name]),
        ("If missed", terms["misfire"]),
        *((title, terms[name]) for name, title in TERMS.items() if terms[name]),
        *([("Thread", terms["thread"])] if terms["thread"] != "room" else []),
        ("Task", row["kind"]),
    ]


def _in_zone(at: str, zone: str) -> str:
    from runtime.calendar import zone_named

    return f"{datetime.fromisoformat(at).astimezone(zone_named(zone)):%a %Y-%m-%d %H:%M:%S %Z}"


def _task(task: str, template_file: Path | None, report: str, options: list[str] | None) -> dict[str, Any]:
    try:
        template = template_file.read_text(encoding="utf-8") if template_file else ""
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"--template-file: {template_file} cannot be read ({error}).") from error
    return {"prompt": task, "template": template, "report": report, "options": dict(map(_option, options or []))}


def _option(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise ConfigError(f'--option: "{text}" is not NAME=VALUE. For example: --option days=7')
    return name, value


def _terms(
    misfire: str,
    catch_up: int | None,
    window_minutes: float | None,
    jitter_seconds: float | None,
    thread: str,
    quiet: bool | None,
    max_cost: float | None,
) -> dict[str, object]:
    return {
        "misfire": misfire,
        "catch_up": catch_up,
        "window_minutes": window_minutes,
        "jitter_seconds": jitter_seconds,
        "thread": thread,
        "quiet": quiet,
        "max_cost": max_cost,
    }


def _given(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value not in (None, "", [], {})}


def _instant(text: str, zone: ZoneInfo) -> datetime:
    """Instant that `--from` names. Errors: ConfigError."""
    from runtime.calendar.errors import quoted
    from runtime.calendar.zones import FIRST_INSTANT, LAST_INSTANT, instant_of

    if not text:
        return datetime.now(UTC).replace(microsecond=0)
    try:
        said = datetime.fromisoformat(text)
        at = said.astimezone(UTC) if said.tzinfo else instant_of(said, zone)
    except (ValueError, OverflowError):
        raise ConfigError(f"--from: {quoted(text)} isn't a date and time. For example: {INSTANT}") from None
    if not FIRST_INSTANT <= at < LAST_INSTANT:
        raise ConfigError(
            f"--from: {quoted(text)} is not between {FIRST_INSTANT.year} and {LAST_INSTANT.year}. For example: {INSTANT}"
        )
    return at


def _utc(at: datetime) -> str:
    return at.isoformat().replace("+00:00", "Z")
