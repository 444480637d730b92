"""Schedules for operators: what is planned, how it went, and what they may do about it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Final

from pydantic import ValidationError

from adapters.web.adapter import CHANNEL
from bot.accounts.naming import Named, RoomAt
from bot.operator.actor import Actor
from bot.operator.views import View, at
from bot.settings.faults import Faults
from bot.settings.schedules import TermsTable, reports
from bot.settings.sources import Layers
from runtime.contract import (
    Address,
    Asker,
    Json,
    Occurrence,
    Role,
    Schedule,
    ScheduleRequest,
    ScheduleState,
    Task,
    TaskKind,
    Terms,
    Timetable,
)
from runtime.errors import Retryable, ToolRetry
from runtime.http.errors import Refusal
from runtime.text.words import marked, say_to_reader

AHEAD: Final = 5
BACK: Final = 20
MOST_BACK: Final = 500
NOWHERE: Final = Address(CHANNEL, "", "console")
"""Where operators stand at the console: in no room, so that no room is meant without being named."""
TEXT_FIELDS: Final = ("name", "when", "zone", "starts", "ends")
KINDS: Final = {"prompt": TaskKind.PROMPT, "template": TaskKind.TEMPLATE, "report": TaskKind.REPORT}
TERMS: Final = tuple(TermsTable.model_fields)
ORDER: Final = list(ScheduleState)
FIELDS: Final = frozenset((*TEXT_FIELDS, *KINDS, *TERMS, "to", "options"))


@dataclass(frozen=True, slots=True)
class ScheduleOperations:
    """The timetable, as operators call things. `mask` hides secrets in what people wrote and runs ended with. `serves` tells
    at once whether a room's account is at work, while `room_at` waits for it.
    """

    timetable: Timetable
    room_at: RoomAt
    named: Named
    mask: Callable[[str], str] = str
    called: Named = str
    serves: Callable[[Address], bool] = bool

    # ------------------------------------------------------------------------------------------------------ reading

    async def listed(self, state: ScheduleState | None = None, room: Address | None = None) -> list[View]:
        """By what is due next; then those that are paused, and those that are over."""
        every = await self.timetable.listed()
        found = [one for one in every if state in (None, one.state) and (room is None or reports_to(one, room))]
        return [self._view(one) for one in sorted(found, key=lambda one: ORDER.index(one.state))]

    async def shown(self, name: str, actor: Actor) -> View:
        """One, with its next five instants and its last twenty."""
        found = await self._find(name, actor)
        return {**self._view(found), "history": await self._past(found, BACK)}

    async def history(self, name: str, actor: Actor, limit: int = BACK) -> list[View]:
        return await self._past(await self._find(name, actor), min(limit, MOST_BACK))

    async def _past(self, schedule: Schedule, most: int) -> list[View]:
        return [self._occurrence(one) for one in await self.timetable.history(schedule.id, most=most)]

    async def _find(self, name: str, actor: Actor) -> Schedule:
        with refused(404):
            return await self.timetable.find(name, asker(actor))

    async def found(self, name: str, actor: Actor) -> Schedule:
        """The schedule itself. Errors: Refusal 404."""
        return await self._find(name, actor)

    # ------------------------------------------------------------------------------------------------------ changing

    async def add(self, fields: Mapping[str, Any], actor: Actor) -> View:
        """Add a schedule. `fields` are the ones of `[[schedules]]` in words: see `wanted`."""
        actor.must_be(Role.OPERATOR)
        wish = await self._wanted(fields)
        if not wish.to:
            words = marked("`to` is missing. Name the room for the report, such as web:main/reports.")
            raise Refusal(400, words).of_field("to")
        with refused(409):
            return self._view(await self.timetable.add(wish, asker(actor)))

    async def change(self, name: str, fields: Mapping[str, Any], actor: Actor) -> View:
        """Change what `fields` name; those that are empty stay as they are."""
        actor.must_be(Role.OPERATOR)
        found = await self._find(name, actor)
        wish = await self._wanted(fields, found)
        with refused(409):
            return self._view(await self.timetable.change(found.id, wish, asker(actor)))

    async def pause(self, name: str, actor: Actor, reason: str = "") -> View:
        found = await self._find(name, actor)
        with refused(409):
            return self._view(await self.timetable.pause(found.id, asker(actor), reason))

    async def resume(self, name: str, actor: Actor) -> View:
        found = await self._find(name, actor)
        with refused(409):
            return self._view(await self.timetable.resume(found.id, asker(actor)))

    async def remove(self, name: str, actor: Actor) -> View:
        found = await self._find(name, actor)
        with refused(409):
            await self.timetable.remove(found.id, asker(actor))
        return {
            "id": found.id,
            "name": found.name,
            "state": "removed",
            "told": marked("Removed: {name}.").format(name=found.name),
        }

    async def run(self, name: str, actor: Actor) -> View:
        """One occurrence, now."""
        found = await self._find(name, actor)
        with refused(409):
            begun = await self.timetable.run_now(found.id, asker(actor))
        return {
            **self._occurrence(begun),
            "name": found.name,
            "told": marked("Started: {name}.").format(name=found.name),
        }

    async def _wanted(self, fields: Mapping[str, Any], old: Schedule | None = None) -> ScheduleRequest:
        """Request that `fields` make, for a new one or as a change of `old`."""
        if unknown := next((name for name in fields if name not in FIELDS), None):
            raise Refusal(
                400,
                marked("There is no field `{unknown}`. The fields are: {fields}.").format(
                    unknown=unknown, fields=", ".join(sorted(FIELDS))
                ),
            )
        words = self.words_in(fields)
        task, terms = (old.task, old.terms) if old else (None, Terms())
        to = await self.rooms_in(fields.get("to"))
        return ScheduleRequest(**words, task=task_in(fields, task), to=to, terms=terms_in(fields, terms))

    def words_in(self, fields: Mapping[str, Any]) -> dict[str, str]:
        """The fields that are one text each."""
        return {name: text_in(fields, name) for name in TEXT_FIELDS}

    async def rooms_in(self, given: object) -> Sequence[Address]:
        """A list of addresses, or a text with commas or blanks between them."""
        names = given.replace(",", " ").split() if isinstance(given, str) else given or []
        if not (isinstance(names, list) and all(isinstance(name, str) for name in names)):
            raise Refusal(400, marked("`to` must be a list of addresses, such as slack:work/C1.")).of_field("to")
        return [await self._room(name) for name in names]

    async def _room(self, text: str) -> Address:
        try:
            found = await self.room_at(text)
        except ValueError as error:
            raise Refusal(400, f"{error}.").of_field("to") from error
        except Retryable as error:
            raise Refusal(409, str(error)).of_field("to") from error
        if found is None:
            words = marked("No account here serves {text}, or that account hasn't connected yet.").format(text=text)
            raise Refusal(409, words).of_field("to")
        return found

    # --------------------------------------------------------------------------------------------------------- views

    def _view(self, one: Schedule) -> View:
        return {
            "id": one.id,
            "name": one.name,
            "state": one.state,
            "reason": self.mask(one.reason),
            "when": self.timetable.words(one, say_to_reader),
            "when_text": one.when_text,
            "zone": str(self.timetable.clocks(one)),
            "next": [at(instant) for instant in self.timetable.upcoming(one, AHEAD)],
            "kind": one.task.kind,
            "task": self.mask(one.task.text),
            "options": dict(one.task.options),
            "to": [self.named(address) for address in one.to],
            "rooms": [self.called(address) for address in one.to],
            "owner": one.owner.name if one.owner else "",
            "by_file": one.by_file,
            "failures": one.failures,
            "created_at": at(one.created_at),
            "starts_at": at(one.starts_at),
            "ends_at": at(one.ends_at),
            "terms": terms_view(one.terms),
        }

    def _occurrence(self, one: Occurrence) -> View:
        return {
            "id": one.id,
            "planned_at": at(one.planned_at),
            "state": one.state,
            "manual": one.manual,
            "silent": one.silent,
            "reason": self.mask(one.reason),
            "attempts": one.attempts,
            "run": one.run_id,
            "started_at": at(one.started_at),
            "ended_at": at(one.ended_at),
            "seconds": (one.ended_at - one.started_at).total_seconds() if one.started_at and one.ended_at else None,
            "shown": one.shown,
            "wanted": one.wanted,
        }


def reports_to(schedule: Schedule, room: Address) -> bool:
    """True if it does, in whatever thread where `room` names none."""
    return any(room in (address, address.whole_room) for address in schedule.to)


def asker(actor: Actor) -> Asker:
    return Asker(actor.person, actor.identity, NOWHERE, hand=actor.hand)


@contextmanager
def refused(status: int) -> Iterator[None]:
    """Pass on what the timetable refuses, which is in words for a person already."""
    try:
        yield
    except ToolRetry as error:
        raise Refusal(status, str(error)).of_field(error.field) from error


def text_in(fields: Mapping[str, Any], name: str) -> str:
    value = fields.get(name) or ""
    if not isinstance(value, str):
        raise Refusal(400, marked("`{name}` must be text.").format(name=name)).of_field(name)
    return value


def task_in(fields: Mapping[str, Any], old: Task | None = None) -> Task | None:
    """Task in the fields; None where nothing is said about it. Of `old` stays what is not named."""
    given = [name for name in KINDS if text_in(fields, name).strip()]
    options = fields.get("options") or {}
    if not isinstance(options, dict):
        raise Refusal(400, marked("`options` must be an object."))
    if len(given) > 1:
        raise Refusal(
            400, marked("`{one}` and `{other}` are both given. Keep one of them.").format(one=given[0], other=given[1])
        ).of_field(given[1])
    if given:
        return _task(given[0], text_in(fields, given[0]), options, old)
    if not (options and old):
        return None
    if old.kind is TaskKind.PROMPT:
        raise Refusal(400, marked("`options` only go with a template or a report. Remove them."))
    return replace(old, options={**old.options, **options})


def _task(name: str, text: str, options: Mapping[str, Json], old: Task | None) -> Task:
    if name == "report" and text not in (known := reports()):
        raise Refusal(
            400,
            marked('There is no report "{text}". The reports are: {known}.').format(text=text, known=", ".join(known)),
        ).of_field(name)
    if name == "template":
        _check_template(text)
    kind = KINDS[name]
    if old is None or old.kind is not kind or (kind is TaskKind.REPORT and old.text != text):
        return Task(kind, text, options=options)  # options of something else would not fit it
    return replace(old, text=text, options={**old.options, **options})


def _check_template(text: str) -> None:
    from runtime.templating.sheet import TemplateError, read_sheet

    try:
        read_sheet("template", text)
    except TemplateError as error:
        raise Refusal(400, str(error)).of_field("template") from error


def terms_in(fields: Mapping[str, Any], terms: Terms) -> Terms | None:
    """`terms` with what the fields change of them; None where they name none. Errors: Refusal names each fault."""
    given = {name: fields[name] for name in TERMS if fields.get(name) not in (None, "")}
    if not given:
        return None
    whole = {**TermsTable.of(terms).model_dump(mode="json"), **given}
    try:
        return TermsTable.model_validate(whole).terms
    except ValidationError as error:
        faults = Faults(TermsTable)
        faults.add_invalid(error, Fields(whole))
        raise Refusal(400, " ".join(faults.lines)) from None


class Fields(Layers):
    """Fields that came over the API; they stand in backticks."""

    def title(self, name: str) -> str:
        return f"`{name}`"


def terms_view(terms: Terms) -> View:
    return TermsTable.of(terms).model_dump(mode="json")
