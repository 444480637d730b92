"""`signalbox schedules`: when work by the clock is due."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Final

import typer

from bot.cli.options import AsJson
from bot.cli.output import show_json, tell
from runtime.errors import ConfigError

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

commands = typer.Typer(no_args_is_help=True, help="Work by the clock: when it is due.")

INSTANT: Final = "2026-03-29T00:00:00Z, 2026-03-29T02:00+01:00, or without the end as the clocks of the zone show it"


@commands.callback()
def _one_of_many() -> None:
    """Keeps the name of a command needed while there is only one."""


@commands.command("next")
def next_(
    when: Annotated[
        str,
        typer.Argument(metavar="WHEN", help='Cron, as "0 9 * * 1-5", or words, as "every weekday at 9:30 in Berlin".'),
    ],
    zone: Annotated[
        str, typer.Option("--zone", metavar="ZONE", help="Where it is read, unless it names a zone itself.")
    ] = "UTC",
    since: Annotated[
        str,
        typer.Option(
            "--from", metavar="INSTANT", help="Only what comes after it; intervals count from it. Without it: now."
        ),
    ] = "",
    count: Annotated[int, typer.Option("--count", min=1, max=1000, metavar="N", help="How many instants.")] = 5,
    as_json: AsJson = False,
) -> None:
    """The next instants of an expression or a phrase, in its zone and in UTC. Needs no settings and no store."""
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


def _instant(text: str, zone: ZoneInfo) -> datetime:
    """What `--from` says. Errors: ConfigError."""
    from runtime.calendar.errors import quoted
    from runtime.calendar.zones import FIRST, LAST, instant_of

    if not text:
        return datetime.now(UTC).replace(microsecond=0)
    try:
        said = datetime.fromisoformat(text)
        at = said.astimezone(UTC) if said.tzinfo else instant_of(said, zone)
    except (ValueError, OverflowError):
        raise ConfigError(f"--from: {quoted(text)} is not an instant. For example: {INSTANT}") from None
    if not FIRST <= at < LAST:
        raise ConfigError(f"--from: {quoted(text)} is not between {FIRST.year} and {LAST.year}. For example: {INSTANT}")
    return at


def _utc(at: datetime) -> str:
    return at.isoformat().replace("+00:00", "Z")
