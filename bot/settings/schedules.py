"""`[[schedules]]`: work by the clock from the settings file; and `[planning]`: what people may plan in chat.

The calendar is loaded for the first table, and only then.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo

from bot.settings.hooks import PAGE_ROOM
from bot.settings.sources import Layers
from runtime.contract import Address, DataCall, Misfire, Task, TaskKind, Terms, Thread
from runtime.settings.types import Number, Section, Switch, Text, TextFile, Whole

if TYPE_CHECKING:
    from runtime.calendar import Planned

Fault = tuple[str, str]
"""The setting, and what is wrong with it."""

UTC_NAME: Final = "UTC"
LONG_AGO: Final = datetime(1970, 1, 2, tzinfo=UTC)
"""When what stands in a file is understood: so that an instant that is over by now is no fault of the file."""
LATER: Final = datetime(1970, 3, 4, 5, 6, tzinfo=UTC)
TICK: Final = timedelta(microseconds=1)
MICROS: Final = 1_000_000
"""Of a US dollar."""
TASKS: Final = {
    "prompt": TaskKind.PROMPT,
    "template": TaskKind.TEMPLATE,
    "template_file": TaskKind.TEMPLATE,
    "report": TaskKind.REPORT,
    "workflow": TaskKind.WORKFLOW,
}
REPORTS: Final = Path(__file__).parents[2] / "config" / "reports"
ENDING: Final = ".md.j2"
DAY_EXAMPLE: Final = '"2026-12-24" or "2026-12-24T18:00"'


def _name(name: str) -> str:
    from runtime.schedules.understanding import SCHEDULE_NAME_MAX_CHARS

    if (
        not name.strip()
        or " ".join(name.split()) != name
        or not name.isprintable()
        or len(name) > SCHEDULE_NAME_MAX_CHARS
    ):
        raise ValueError(f'one line of at most {SCHEDULE_NAME_MAX_CHARS} characters, such as "morning"')
    return name


def _zone(name: str) -> str:
    if name in ("", UTC_NAME):
        return name
    from runtime.calendar import WhenError, zone_named

    try:
        return zone_named(name).key
    except WhenError as error:
        raise ValueError(f"the name of a time zone. {_bare(error)}") from None


def _when(text: str) -> str:
    """In a file it must mean the same on each day that it is read."""
    from runtime.calendar import At, WhenError, plan

    try:
        first, second = (plan(text, zone="UTC", now=now) for now in (LONG_AGO, LATER))
    except WhenError as error:
        raise ValueError(f"cron or a phrase. {_bare(error)}") from None
    if isinstance(first.when, At) and first.when != second.when:
        raise ValueError(
            'a date with it: in a file, these words mean another day each time it is read. "2026-12-24 at 18:00"'
        )
    return text


def _bare(error: Exception) -> str:
    """Without the full stop, which the sentence around it has."""
    return str(error).removesuffix(".")


def _room(address: str) -> str:
    found = Address.parse(address)
    if found.channel == "web" and not PAGE_ROOM.fullmatch(found.room):
        raise ValueError('a room of the page with 6 to 32 lowercase letters and digits, such as "web:main/reports"')
    return address


def _few(rooms: tuple[str, ...]) -> tuple[str, ...]:
    from runtime.schedules.service import DESTINATIONS

    if len(rooms) > DESTINATIONS:
        raise ValueError(f"at most {DESTINATIONS} rooms")
    return rooms


def _dated(value: object) -> object:
    """TOML has dates of its own, which need no quotes."""
    return value.isoformat() if isinstance(value, date | datetime) else value


def _moment(text: str) -> str:
    try:
        if text:
            datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"a date, or a date and time, such as {DAY_EXAMPLE}") from None
    return text


def _sheet(text: str, info: ValidationInfo) -> str:
    """Check the header of a template; the rest is looked at where it is rendered."""
    if not text:
        return ""
    from runtime.templating.sheet import TemplateError, read_sheet

    try:
        read_sheet(str(info.data.get("name", "")), text)
    except TemplateError as error:
        raise ValueError(f"a template that can be read. {_bare(error)}") from None
    return text


def _sheet_file(path: Path | None, info: ValidationInfo) -> Path | None:
    if path is not None:
        _sheet(path.read_text(encoding="utf-8"), info)
    return path


def reports() -> list[str]:
    """Names of the reports that come with the program."""
    return sorted(path.name.removesuffix(ENDING) for path in REPORTS.glob(f"*{ENDING}"))


def _report(name: str) -> str:
    if name and name not in (known := reports()):
        raise ValueError(f"one of the built-in reports: {', '.join(known)}")
    return name


def as_json(arguments: dict[str, Any]) -> dict[str, Any]:
    try:
        json.dumps(arguments, allow_nan=False)
    except (TypeError, ValueError):
        raise ValueError("texts, numbers, switches, lists and tables; dates in quotes") from None
    return arguments


ScheduleName = Annotated[Text, AfterValidator(_name)]
When = Annotated[Text, AfterValidator(_when)]
Rooms = Annotated[tuple[Annotated[Text, AfterValidator(_room)], ...], AfterValidator(_few)]
ZoneName = Annotated[str, AfterValidator(_zone)]
Day = Annotated[str, BeforeValidator(_dated), AfterValidator(_moment)]


class DataTable(Section):
    """A tool call whose result a template reads by `name`; a template may bring such calls in its own header."""

    name: Text = Field(description="Name of the result in the template.")
    tool: Text = Field(description="Name of the tool.")
    arguments: Annotated[dict[str, Any], AfterValidator(as_json)] = Field(default={}, description="Its arguments.")


class TermsTable(Section):
    """Terms of a schedule: missed instants, jitter, the thread it posts in and the like."""

    misfire: Misfire = Field(
        default=Misfire.ONCE,
        description="Times missed while nothing was running: `skip` them, make up for them with one run (`once`), run `all` (at most `catch_up`, the newest), or run the ones of the last `window_minutes` (`window`).",
    )
    catch_up: Whole = Field(
        default=10, ge=1, le=100, description='Most missed runs that `misfire = "all"` makes up for.'
    )
    window_minutes: Number = Field(
        default=60, gt=0, le=525_600, description='How far back `misfire = "window"` looks for missed runs.'
    )
    jitter_seconds: Number = Field(
        default=0, ge=0, le=3600, description="Each run starts up to this much later, evenly spread."
    )
    thread: Thread = Field(
        default=Thread.ROOM,
        description="`room`: reports go into the room; `own`: each begins a thread; `running`: all go into the thread of the first.",
    )
    quiet: Switch = Field(default=False, description="Don't post a report without news.")
    max_cost: Number = Field(
        default=0, ge=0, le=1_000_000, description="US dollars its runs may cost in 24 hours; 0: no limit."
    )

    @property
    def terms(self) -> Terms:
        return Terms(
            misfire=self.misfire,
            catch_up=self.catch_up,
            window=timedelta(minutes=self.window_minutes),
            jitter=timedelta(seconds=self.jitter_seconds),
            thread=self.thread,
            quiet=self.quiet,
            most_micros=round(self.max_cost * MICROS),
        )

    @classmethod
    def of(cls, terms: Terms) -> TermsTable:
        return cls(
            misfire=terms.misfire,
            catch_up=terms.catch_up,
            window_minutes=terms.window.total_seconds() / 60,
            jitter_seconds=terms.jitter.total_seconds(),
            thread=terms.thread,
            quiet=terms.quiet,
            max_cost=terms.most_micros / MICROS,
        )


class PlanTable(Section):
    """Work that is done at set times, and who reads it."""

    name: ScheduleName = Field(description="Its name. The schedule is known by it: another name is another schedule.")
    when: When = Field(
        description='When it is due, as cron or a phrase, such as "0 9 * * 1-5" or "every weekday at 9": [when.md](when.md).'
    )
    zone: ZoneName = Field(
        default="", description='Time zone, such as "Europe/Berlin"; empty: that of `planning.zone`.'
    )
    prompt: str = Field(
        default="", max_length=20_000, description="What the agent should do; or set one of the next four instead."
    )
    template: Annotated[str, AfterValidator(_sheet)] = Field(
        default="", description="A Jinja2 template over results of tools. No model is called."
    )
    template_file: Annotated[TextFile | None, AfterValidator(_sheet_file)] = Field(
        default=None, description="File with a template."
    )
    report: Annotated[str, AfterValidator(_report)] = Field(
        default="", description="Name of a built-in report: `signalbox report --list` shows them."
    )
    workflow: str = Field(default="", description="Name of a workflow; `options` are its inputs.")
    agent: str = Field(default="", description="Name of the agent that does it. Default: the main agent.")
    data: tuple[DataTable, ...] = Field(
        default=(), description="Tool calls for a template, besides the ones in its header."
    )
    options: dict[str, str | int | float | bool] = Field(
        default={}, description="Options of a template or report, or inputs of a workflow."
    )
    to: Rooms = Field(
        description='Addresses of the rooms for its reports, such as ["slack:work/C1"]. Questions are asked in the first.'
    )
    starts: Day = Field(default="", description=f"Not before this day or time: {DAY_EXAMPLE}.")
    ends: Day = Field(default="", description="Not after this day or time.")


class ScheduleTable(TermsTable, PlanTable):
    """Work by the clock: [schedules.md](schedules.md). Changes take effect after a reload."""

    def task(self) -> Task:
        """Errors: OSError when the file of a template cannot be read any more."""
        kind = next(kind for setting, kind in TASKS.items() if getattr(self, setting))
        text = self.template_file.read_text(encoding="utf-8") if self.template_file else ""
        calls = tuple(DataCall(call.name, call.tool, call.arguments) for call in self.data)
        return Task(kind, self.prompt or self.template or text or self.report or self.workflow, calls, self.options)

    def rule(self, zone: str) -> Planned:
        """The rule for its instants, read in `zone` if it names no zone of its own."""
        from runtime.calendar import plan

        return plan(self.when, zone=self.zone or zone, now=LONG_AGO)

    def span(self, zone: str) -> tuple[datetime | None, datetime | None]:
        """From when and until when, by the clocks of `zone`. A day that ends it is the whole day."""
        return _instant(self.starts, zone, time.min), _instant(self.ends, zone, time.max)


class Planning(Section):
    """Limits on what people plan in chat. They don't apply to schedules in the settings."""

    zone: ZoneName = Field(
        default=UTC_NAME, description="Time zone where neither the request, the person nor the room names one."
    )
    per_person: Whole = Field(default=50, ge=0, le=10_000, description="Most schedules that one person may have.")
    per_room: Whole = Field(default=100, ge=0, le=10_000, description="Most schedules that one room may have.")
    least_interval_minutes: Number = Field(
        default=1, ge=0, le=1440, description="Shortest time between two runs of one schedule."
    )

    @property
    def least_interval(self) -> timedelta:
        return timedelta(minutes=self.least_interval_minutes)


def _instant(text: str, zone: str, of_day: time) -> datetime | None:
    from runtime.calendar import zone_named

    if not text:
        return None
    said = datetime.fromisoformat(text)
    if "T" not in text and " " not in text:
        said = datetime.combine(said, of_day)
    return said.replace(tzinfo=said.tzinfo or zone_named(zone)).astimezone(UTC)


def faults_together(layers: Layers, nowhere: Callable[[Layers, str], Iterator[Fault]]) -> Iterator[Fault]:
    """Faults that show only when the settings of a schedule are looked at together; `nowhere` finds rooms of no account."""
    for schedule, table in layers.tables("schedules"):
        yield from _tasks(schedule, table)
        rooms = table.get("to")
        if isinstance(rooms, list | tuple):
            if not rooms:
                yield f"{schedule}.to", 'is empty; name a room, such as ["web:main/reports"]'
            for number, _ in enumerate(rooms, 1):
                yield from nowhere(layers, f"{schedule}.to[{number}]")


def _tasks(schedule: str, table: Mapping[str, Any]) -> Iterator[Fault]:
    """Exactly one thing to do."""
    given = [name for name in TASKS if table.get(name)]
    if not given:
        yield f"{schedule}.prompt", "is missing; set it, or template, template_file, report or workflow"
    for name in given[1:]:
        yield f"{schedule}.{name}", f"is set, and {given[0]} too; keep one of them"
    kinds = {TASKS[name] for name in given}
    if table.get("data") and TaskKind.TEMPLATE not in kinds:
        yield f"{schedule}.data", "is only for a template; remove it"
    if table.get("options") and kinds == {TaskKind.PROMPT}:
        yield f"{schedule}.options", "only go with a template, a report or a workflow; remove them"
