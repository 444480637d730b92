"""Work that begins by the clock: what was planned, one instant of it, and who keeps the book of both."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, tzinfo
from enum import StrEnum
from typing import NewType, Protocol

from runtime.contract.people import Address, Identity, Json, Person, RunId

ScheduleId = NewType("ScheduleId", str)
OccurrenceId = NewType("OccurrenceId", str)


class ScheduleState(StrEnum):
    ACTIVE = "active"
    PAUSED = "paused"  # by a person, or because it failed too often: `reason` says which
    ENDED = "ended"  # no instant is left
    REMOVED = "removed"  # kept for its history


class Misfire(StrEnum):
    """Treatment of instants that passed while nobody was there to fire them."""

    SKIP = "skip"  # none of them
    ONCE = "once"  # one run for all: that of the newest
    ALL = "all"  # each, up to `Terms.catch_up` of them, the newest
    WINDOW = "window"  # each that is no older than `Terms.window`


class Thread(StrEnum):
    """Place of a report in its room."""

    ROOM = "room"  # in the room, or in the thread that its address names
    OWN = "own"  # each report begins a thread: its first line in the room, the rest under it
    RUNNING = "running"  # all reports under the first one


class TaskKind(StrEnum):
    PROMPT = "prompt"  # words for the agent
    TEMPLATE = "template"  # a Jinja2 template over what tools tell: no model is asked
    REPORT = "report"  # one of the built-in reports, by its name
    GOAL = "goal"  # turns until a result is accepted; `options` hold the contract
    WORKFLOW = "workflow"  # steps in an order, by the workflow's name; `options` are its inputs


@dataclass(frozen=True, slots=True)
class DataCall:
    """A tool call whose result a template reads as `name`."""

    name: str
    tool: str
    arguments: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Task:
    """Work at an instant. `text` is kept as it was written: a prompt, a template, or a report's name.

    `data` are the calls of a template, `options` the settings of a built-in report. `resumes` is what a workflow goes on
    with: its definition as it was frozen, and what its calls gave. `outside` names options that hold others' words. `chain` are
    the agents who had an agent plan it: the work may do no more than each of them.
    """

    kind: TaskKind
    text: str
    data: tuple[DataCall, ...] = ()
    options: Mapping[str, Json] = field(default_factory=dict)
    resumes: Mapping[str, Json] = field(default_factory=dict)
    outside: tuple[str, ...] = ()
    chain: tuple[str, ...] = ()

    def called(self, name: str) -> str:
        """The work as people know it; `name` is that of what began it, such as a trigger."""
        if self.kind is not TaskKind.WORKFLOW or name == self.text:
            return name
        return f"{self.text} (begun by {name})"

    def to_json(self) -> str:
        data = [[call.name, call.tool, dict(call.arguments)] for call in self.data]
        made: dict[str, object] = {
            "kind": self.kind.value,
            "text": self.text,
            "data": data,
            "options": dict(self.options),
        }
        if self.resumes:  # a node of an older version reads the others
            made["resumes"] = dict(self.resumes)
        if self.outside:
            made |= {"outside": list(self.outside)}
        if self.chain:
            made["chain"] = list(self.chain)
        return json.dumps(made, ensure_ascii=False, sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> Task:
        raw = json.loads(text)
        return cls(
            TaskKind(raw["kind"]),
            raw["text"],
            tuple(DataCall(*call) for call in raw["data"]),
            raw["options"],
            raw.get("resumes", {}),
            tuple(raw.get("outside", ())),
            tuple(raw.get("chain", ())),
        )


@dataclass(frozen=True, slots=True)
class Terms:
    """Terms of a schedule.

    `quiet`: a report without news is not shown. `jitter`: each firing comes up to so much later, evenly spread.
    `most_micros`: money, in millionths of a US dollar, that its runs of one day (24 hours) may cost; 0 is no bound.
    """

    misfire: Misfire = Misfire.ONCE
    catch_up: int = 10
    window: timedelta = timedelta(hours=1)
    jitter: timedelta = timedelta()
    thread: Thread = Thread.ROOM
    quiet: bool = False
    most_micros: int = 0

    def to_json(self) -> str:
        return json.dumps(
            {
                "misfire": self.misfire.value,
                "catch_up": self.catch_up,
                "window": self.window.total_seconds(),
                "jitter": self.jitter.total_seconds(),
                "thread": self.thread.value,
                "quiet": self.quiet,
                "most_micros": self.most_micros,
            }
        )

    @classmethod
    def from_json(cls, text: str) -> Terms:
        raw = json.loads(text)
        window, jitter = timedelta(seconds=raw["window"]), timedelta(seconds=raw["jitter"])
        return cls(
            Misfire(raw["misfire"]),
            raw["catch_up"],
            window,
            jitter,
            Thread(raw["thread"]),
            raw["quiet"],
            raw["most_micros"],
        )


@dataclass(frozen=True, slots=True)
class Schedule:
    """A recurring or one-off job.

    `when` is written by `runtime.calendar`, its zone with it; `when_text` is what a person wrote. `to` are the rooms that
    read the report, the first of them is its home: cards are asked there. `by_file`: it stands in the settings file, and
    is changed there alone. `owner` made it, and it acts with their rights; None for one of the file, whose `actor` is empty too. `anchor_at` is
    what intervals count from. `next_at` is the next planned instant; None while it is not active.
    """

    id: ScheduleId
    name: str
    when: str
    when_text: str
    task: Task
    to: tuple[Address, ...]
    terms: Terms
    state: ScheduleState
    created_at: datetime
    anchor_at: datetime
    actor: Identity
    agent: str
    owner: Person | None = None
    by_file: bool = False
    starts_at: datetime | None = None
    ends_at: datetime | None = None
    next_at: datetime | None = None
    failures: int = 0
    reason: str = ""

    @property
    def home(self) -> Address:
        return self.to[0]

    @property
    def zone(self) -> str:
        """Zone in which it reads clocks; its rule need not be understood for that."""
        return str(json.loads(self.when)["zone"])


@dataclass(frozen=True, slots=True)
class Report:
    """A report that is made once, at once, since somebody asked for it: no schedule plans it.

    `id` is its only occurrence, `zone` where its times are told. `owner` asked for it, and it acts with their rights. With
    `because` a trigger began it: the words say why.
    """

    id: OccurrenceId
    name: str
    task: Task
    to: tuple[Address, ...]
    zone: str
    agent: str
    actor: Identity
    owner: Person | None = None
    because: str = ""

    @property
    def home(self) -> Address:
        return self.to[0]

    @property
    def terms(self) -> Terms:
        return Terms()

    def to_json(self) -> str:
        """All that the work needs to know; who asked for it stands in its signal."""
        rooms = [str(address) for address in self.to]
        told = {"name": self.name, "task": self.task.to_json(), "to": rooms, "zone": self.zone, "agent": self.agent}
        return json.dumps(told | ({"because": self.because} if self.because else {}))

    @classmethod
    def from_json(cls, occurrence: OccurrenceId, text: str) -> Report:
        raw = json.loads(text)
        rooms = tuple(map(Address.parse, raw["to"]))
        task = Task.from_json(raw["task"])
        why = raw.get("because", "")
        return cls(occurrence, raw["name"], task, rooms, raw["zone"], raw["agent"], Identity(""), because=why)


class OccurrenceState(StrEnum):
    PLANNED = "planned"  # waits: it failed, and is tried again at `not_before`
    STARTED = "started"  # its run works, or waits for people
    DONE = "done"  # its run came to an end; what became of the reports is told by their deliveries
    SKIPPED = "skipped"  # `reason` says why
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One instant of a schedule. `manual`: a person asked for it. `silent`: there was no news, so nothing was shown.

    `attempts` counts its runs. `result` is what the report said, as far as it is kept for the next one. `shown` counts
    the destinations that have it, of `wanted`. `report`: it is no instant of a schedule, but a report that was asked for.
    """

    id: OccurrenceId
    schedule: ScheduleId
    planned_at: datetime
    state: OccurrenceState
    manual: bool = False
    silent: bool = False
    reason: str = ""
    attempts: int = 0
    run_id: RunId | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    result: str = ""
    shown: int = 0
    wanted: int = 0
    report: Report | None = None


@dataclass(frozen=True, slots=True)
class Job:
    """Facts for a run about the occurrence that it works for.

    `previous` is what its schedule's last report said that was shown, planned for `previous_at`; empty and None where
    there was none. `seen` holds what data the occurrence before was made of: a digest each, by the name of the call.
    `zone` is where its schedule reads clocks.
    """

    occurrence: OccurrenceId
    schedule: ScheduleId
    name: str
    task: Task
    to: tuple[Address, ...]
    terms: Terms
    planned_at: datetime
    previous: str = ""
    previous_at: datetime | None = None
    seen: Mapping[str, str] = field(default_factory=dict)
    zone: str = "UTC"


@dataclass(frozen=True, slots=True)
class ScheduleRequest:
    """A schedule as somebody wants it, in their words. Empty fields of a change stay as they are.

    `zone` is where `when` is read, if it names none itself. `to` empty: the room in which it was said.
    """

    name: str = ""
    when: str = ""
    zone: str = ""
    task: Task | None = None
    to: Sequence[Address] = ()
    terms: Terms | None = None
    starts: str = ""
    ends: str = ""


@dataclass(frozen=True, slots=True)
class Foreseen:
    """A wish as it would be understood, and its next instants. `faults` tells what is wrong with its fields, by their names.

    `when` is empty, and `instants` with it, where no time was named yet, or where the times are wrong.
    """

    when: str = ""
    zone: str = ""
    instants: Sequence[datetime] = ()
    faults: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Asker:
    """Person who wants it, and where they said so. `key` makes a repeat after a kill the same wish; empty: each is a new one.

    `hand`, where it is not empty, does it for them and is named in the audit: a command line. `agent` does it on their
    behalf, and may only plan work of its own; empty where they do it themselves. `above` are the agents who had that one work.
    """

    person: Person | None
    identity: Identity
    address: Address
    key: str = ""
    hand: str = ""
    agent: str = ""
    above: tuple[str, ...] = ()


class Say(Protocol):
    """Words in the language of whoever reads them, as `runtime.text.words` has it; English where nothing is given."""

    def __call__(self, text: str, /, **values: object) -> str: ...


class Timetable(Protocol):
    """The book of schedules, for tools, commands and pages. What is refused is a ToolRetry with words for a person."""

    async def add(self, wanted: ScheduleRequest, asker: Asker) -> Schedule:
        """Make a schedule. A name is made from its words where none is given; names are unique in a home room."""

    async def change(self, schedule: ScheduleId, wanted: ScheduleRequest, asker: Asker) -> Schedule:
        """Change what `wanted` names."""

    async def foresee(
        self,
        wanted: ScheduleRequest,
        asker: Asker,
        schedule: ScheduleId | None = None,
        count: int = 5,
        say: Say = ...,
    ) -> Foreseen:
        """Tell what would come of a wish, for a new schedule or as a change of one. Empty fields are no fault."""

    async def find(self, name: str, asker: Asker) -> Schedule:
        """The schedule called `name`, or with that id, which `asker` may see: of their room, or their own; operators all."""

    async def listed(self, asker: Asker | None = None) -> list[Schedule]:
        """Schedules that `asker` may see, without it all, by their next instant; removed ones not. At most 1,000."""

    async def pause(self, schedule: ScheduleId, asker: Asker, reason: str = "") -> Schedule: ...

    async def resume(self, schedule: ScheduleId, asker: Asker) -> Schedule:
        """Active again, failures forgotten; what passed meanwhile is not made up for."""

    async def remove(self, schedule: ScheduleId, asker: Asker) -> None: ...

    async def run_now(self, schedule: ScheduleId, asker: Asker) -> Occurrence:
        """One manual occurrence, now, whatever its state."""

    async def history(self, schedule: ScheduleId, *, most: int = 20) -> list[Occurrence]:
        """Newest first."""

    def upcoming(self, schedule: Schedule, count: int = 5) -> list[datetime]:
        """Its next planned instants."""

    def words(self, schedule: Schedule, say: Say = ...) -> str:
        """Its rule in words, as we understood it: "every weekday at 09:00 (Europe/Berlin)"; with the `say` of whoever reads it."""

    def clocks(self, schedule: Schedule) -> tzinfo:
        """The zone its times are read in; `str()` of it is the zone's name."""

    async def set_zone(self, zone: str, asker: Asker, *, whole_room: bool = False) -> str:
        """Set the zone of the asker, or of everybody in their room who has none of their own; its full name."""
