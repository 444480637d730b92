"""Operations of an operator. The API and, with no process running, the command line are both made of it.

Every answer is a plain value that JSON can hold. What cannot be done is a Refusal, whose sentence tells why.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from datetime import UTC, timedelta
from enum import StrEnum
from functools import partial, wraps
from typing import Any, Final, TypeVar

from adapters.web.adapter import CHANNEL
from adapters.web.rooms import ROOM_NAME
from bot.accounts.naming import Named
from bot.operator import audit, views
from bot.operator.access.forgetting import ForgetOperations
from bot.operator.access.logins import LoginOperations
from bot.operator.access.tokens import TokenOperations, WantedToken
from bot.operator.actor import Actor
from bot.operator.agents import AgentLives, with_states
from bot.operator.api import OPERATIONS, Operation, OperatorApi
from bot.operator.context import OperatorContext
from bot.operator.harness import HarnessOperations
from bot.operator.lookups import finding, spans, titles, trails
from bot.operator.people import Roster, done, new_name
from bot.operator.reports import ReportOperations
from bot.operator.schedules import ScheduleOperations
from bot.operator.views import View
from bot.operator.work.events import EventOperations
from bot.operator.work.goals import GoalOperations
from bot.operator.work.handed_on import HandedOn
from bot.operator.work.hands import HAND_SCHEDULE, hand_of
from bot.operator.work.knowledge import KnowledgeOperations
from bot.operator.work.memories import MemoryOperations
from bot.operator.work.processes import ProcessOperations
from bot.operator.work.skills import SkillOperations
from bot.operator.work.tasks import TaskOperations
from bot.operator.work.triggers import TriggerOperations
from bot.operator.work.workflows import WorkflowOperations
from bot.wiring.knowledge.packs import search_of
from bot.wiring.safety.scan import GuardScan
from runtime.chat.forms import ARGUMENTS, QUESTION
from runtime.cluster.topics import COOLDOWNS
from runtime.context.measuring import Preview
from runtime.contract import (
    PEOPLE,
    Address,
    ApprovalId,
    Body,
    ChildState,
    Choice,
    Clicked,
    DeliveryId,
    Identity,
    Outcome,
    Role,
    RunId,
    Said,
    ScheduleState,
    Signal,
    TaskState,
    Verdict,
    room_topic,
)
from runtime.contract.memory.facts import ScopeKind
from runtime.domain.agents.lifecycle import AgentEvent
from runtime.domain.agents.manifest import MAIN
from runtime.domain.approvals import REVISION, Approval, ApprovalState
from runtime.domain.deliveries import DeliveryState
from runtime.domain.events.event import Only
from runtime.domain.runs import RunState
from runtime.errors import ConfigError
from runtime.guard.findings import Gate
from runtime.http import bodies
from runtime.http.errors import Refusal
from runtime.models.choice.cooling import Standing
from runtime.policy.modes import Mode
from runtime.store.protocol import Conversed, DeliveryRow, Granted, Unpaired
from runtime.text.naming import folded, is_identity, meant
from runtime.timeline.trail import Thing

AT_WORK: Final = (RunState.RUNNING, RunState.READY)
LONGEST_WAIT: Final = timedelta(seconds=25)  # below the idle limit of common proxies
ORDERS: Final = ("", "newest", "oldest")
LOOKED_THROUGH: Final = 2_000
"""Questions among which those of one person are looked for."""
CHANGED: Final = "This call has changed in the meantime. Look at it again, and answer {}."
NEVER_AT_WORK: Final = "No account {} has run here yet. Check its name, or start Signalbox with it once."
COUNTS: Final = ("rows", "redacted", "left")
SCANNED: Final = "{rows} rows looked at, {redacted} redacted, {left} left as they were"
GLANCE: Final = timedelta(seconds=1)  # what another node changed does not ring here at once

Word = TypeVar("Word", bound=StrEnum)
Api = TypeVar("Api", bound=OperatorApi)


def by_role(api: type[Api]) -> type[Api]:
    """Each operation of `api` first asks for the role that its declaration names."""
    for operation in OPERATIONS.values():
        setattr(api, operation.name, _asking(operation, vars(api)[operation.name]))
    return api


def _asking(operation: Operation, work: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    @wraps(work)
    async def ask(do: Operations, *given: Any, **named: Any) -> Any:
        do.actor.must_be(operation.role)
        return await work(do, *given, **named)

    return ask


@by_role
class Operations(OperatorApi):
    """Implements the operators' API on the store, for one actor."""

    def __init__(self, context: OperatorContext, actor: Actor) -> None:
        self._context = context
        self._store = context.store
        self.actor = actor

    # ------------------------------------------------------------------------------------------------------ reading

    async def overview(self) -> View:
        counts = dict(await self._store.operations.counts())
        told = {"guard": self._context.guarded(), "interceptors": self._context.intercepted()}
        return {
            "info": {**self._context.info, **{name: words for name, words in told.items() if words}},
            "counts": counts,
            "accounts": [*map(views.account, self._context.states())],
        }

    async def today(self) -> View:
        """Count what happened since midnight (UTC), list runs that failed then, and sum the cost of each of seven days."""
        midnight = self._context.now().astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        figures = self._store.figures
        happened = await figures.activity(midnight)
        week = await figures.cost_by_day(midnight - timedelta(days=6), days=7)
        await self._context.refresh()
        view = views.today(happened, week, *self._names)
        return {**view, "failures": await self._entitled(view["failures"])}

    async def runs(self, state: str = "", limit: int = 100, room: str = "") -> list[View]:
        rows = await self._store.operations.runs(
            state=_word(RunState, state), room=await self._room_meant(room), limit=limit
        )
        return await self._entitled([views.run(row, *self._names) for row in rows])

    async def run(self, run_id: str) -> View:
        run_id = await self._meant(run_id, Thing.RUN)
        found = await self._store.operations.run(RunId(run_id))
        if found is None:
            raise Refusal(404, f"There is no run {run_id}.")
        row, steps = found
        view = await self._one_entitled(views.run(row, *self._names))
        took, found_spans = spans.spans_of(row, steps, self._context.now())
        return {**view, "seconds": took, "steps": list(map(views.step, steps, found_spans))}

    async def approvals(
        self, state: str = "", limit: int = 100, room: str = "", person: str = "", order: str = ""
    ) -> list[View]:
        """Newest first, or with `order` "oldest" the other way; with `person` those whose requester is called so."""
        if order not in ORDERS:
            raise Refusal(400, f'"{order}" isn\'t a sort order. Use one of: {", ".join(filter(None, ORDERS))}.')
        rows = await self._store.approvals.approvals(
            state=_word(ApprovalState, state),
            room=await self._room_meant(room),
            limit=LOOKED_THROUGH if person else limit,
            oldest=order == "oldest",
        )
        found = [row for row in rows if not person or folded(row.requester_name) == folded(person)]
        return await self._entitled([await self._question(row) for row in found[:limit]])

    async def approval(self, approval_id: str) -> View:
        """One question, with the names of the person whose request led to it, and of the rule that asked."""
        approval_id = await self._meant(approval_id, Thing.APPROVAL)
        row = await self._store.approvals.approval(ApprovalId(approval_id))
        if row is None:
            raise Refusal(404, f"There is no approval {approval_id}.")
        known = next((one for one in await self._store.people.people() if one.person.id == row.requester), None)
        names = {known.person.name, *known.identities} if known else set()
        view = await self._one_entitled(await self._question(row))
        requester = known.person.name if known else row.requester_name
        return {**view, "requester": requester, "requester_names": sorted(names)}

    async def modes(self) -> list[View]:
        """Conversations for which a mode was set, the newest first."""
        rows = await self._store.approvals.modes()
        return await self._entitled([views.mode(address, row, *self._names) for address, row in rows])

    async def set_mode(self, room: str, mode: str) -> View:
        """Set the mode of a room or thread. Trusted mode can only be set in the room itself."""
        address, wanted = await self._room_meant(room), _word(Mode, mode)
        if address is None or wanted is None or wanted is Mode.TRUSTED:
            raise Refusal(400, "Name a room, and one of the modes normal, read-only and plan.")
        if not await self._context.finder.is_served(address):
            account = self._names[0](address).partition("/")[0]
            raise Refusal(404, NEVER_AT_WORK.format(account))
        made = await self._store.approvals.set_mode(MAIN, address, wanted, self.actor.person, self.actor.name)
        self._context.nudge(address)
        return await self._one_entitled(views.mode(address, made, *self._names))

    async def budgets(self) -> list[View]:
        """Every budget that is set, with what is left of it for each whom it bounds."""
        rules, counters = self._store.budgets.rules, await self._store.budgets.counters()
        people = {str(known.person.id): known.person.name for known in await self._store.people.people()}
        await self._context.refresh()
        return views.budgets(rules, counters, people, self._context.called, self._store.now())

    async def context(self, room: str, agent: str = "") -> View:
        """Tell how full the window is for the next message of a conversation, and what was condensed of it."""
        made, conversed = await self._preview(room, agent)
        return await self._one_entitled(views.context(made, conversed, *self._names))

    async def prompt(self, room: str, agent: str = "") -> View:
        """Make the request that the next message of a conversation would send, without sending it."""
        made, conversed = await self._preview(room, agent)
        view = views.context(made, conversed, *self._names)
        return await self._one_entitled({**view, **views.prompt(made, self._context.mask)})

    async def _preview(self, room: str, agent: str) -> tuple[Preview, Conversed]:
        """Errors: Refusal where no process runs: its tools and its model make the request."""
        address, previews = await self._room_meant(room), self._context.previews
        if address is None:
            raise Refusal(400, "Name a room.")
        if previews is None:
            raise Refusal(409, "Only a running Signalbox knows what it would send: `signalbox run`.")
        name = agent or MAIN
        if not previews.knows(name):
            raise Refusal(404, f"There is no agent {name} here.")
        conversed = await self._store.runs.conversation(name, address)
        return await previews.of(conversed), conversed

    async def agents(self) -> list[View]:
        """Agents of the settings, the main one first."""
        return with_states(self._context.agents(), await self._store.lives.rows())

    async def agent(self, name: str) -> View:
        rows = await self.agents()
        found = next((row for row in rows if row["name"] == name), None)
        if found is None:
            raise Refusal(404, f"There is no agent {name}. There are: {', '.join(row['name'] for row in rows)}.")
        return found

    async def suspend_agent(self, name: str, reason: str = "") -> View:
        return await self._lives.turn(name, AgentEvent.SUSPEND, reason)

    async def resume_agent(self, name: str, reason: str = "") -> View:
        return await self._lives.turn(name, AgentEvent.RESUME, reason)

    async def terminate_agent(self, name: str, reason: str = "") -> View:
        return await self._lives.turn(name, AgentEvent.TERMINATE, reason)

    @property
    def _lives(self) -> AgentLives:
        return AgentLives(self._context, self.actor)

    async def models(self) -> list[View]:
        rests = {rest.model: rest for rest in await self._store.cooldowns.resting()}
        now = self._context.now()
        return [views.model(one, rests.get(one.name), now) for one in self._context.models()]

    async def model(self, name: str) -> View:
        rows = await self.models()
        found = next((row for row in rows if name in (row["name"], row["model"])), None)
        if found is None:
            names = ", ".join(row["name"] for row in rows)
            raise Refusal(404, f"There is no model {name}. There are: {names}.")
        return found

    async def cooldowns(self) -> list[View]:
        return [views.cooldown(rest) for rest in await self._store.cooldowns.resting()]

    async def clear_cooldown(self, model: str) -> View:
        if not await self._store.cooldowns.clear(model, self.actor.person.name):
            raise Refusal(409, f"The model {model} isn't resting.")
        self._context.notifier.notify(COOLDOWNS)
        return {"model": model, "state": Standing.WELL.value}

    async def deliveries(self, state: str = "", limit: int = 100, room: str = "") -> list[View]:
        where = await self._room_meant(room)
        rows = await self._store.operations.deliveries(state=_word(DeliveryState, state), room=where, limit=limit)
        return await self._entitled([views.delivery(row, *self._names) for row in rows])

    async def delivery(self, delivery_id: str) -> View:
        delivery_id = await self._meant(delivery_id, Thing.DELIVERY)
        row = await self._store.operations.delivery(DeliveryId(delivery_id))
        if row is None:
            raise Refusal(404, f"There is no delivery {delivery_id}.")
        return await self._one_entitled(views.delivery_with_parts(row, *self._names))

    async def trace(self, message: str) -> View:
        """Trace of a message, or what may be meant."""
        await self._context.refresh()
        found = await trails.trace(self._context, message)
        if found["trace"]:
            return {**found, "trace": await self._one_entitled(found["trace"])}
        return {**found, "matches": await self._entitled(found["matches"])}

    async def traceable(self, room: str = "", limit: int = 100) -> list[View]:
        """The newest messages."""
        await self._context.refresh()
        return await self._entitled(await trails.traceable(self._context, room, limit))

    async def people(self) -> list[View]:
        return [views.person(known) for known in await self._store.people.people()]

    async def audit(self, kind: str = "", limit: int = 100) -> list[View]:
        """The newest rows of the audit, of one kind or of all."""
        return await audit.newest(self._store.audit, kind, limit, self._context.mask)

    async def export_audit(self, fields: Mapping[str, Any]) -> View:
        """A page of sealed rows behind the number `after`, with what is signed of them."""
        if not isinstance(after := fields.get("after", 0), int):
            raise Refusal(400, "`after` must be the number of a row.")
        return await audit.exported(self._store.audit, self._context.ends, after)

    async def events(
        self, after: int = 0, limit: int = 100, room: str = "", session: str = "", run: str = "", word: str = ""
    ) -> View:
        """Events behind a number, in order. Errors: Refusal 410, with the oldest number, where some of them are gone."""
        wanted = Only(
            session=session,
            room=str(await self._room_meant(room) or ""),
            run=await self._meant(run, Thing.RUN) if run else "",
            words=(word,) if word else (),
        )
        return await self._events.page(after, limit, wanted)

    async def run_events(self, run_id: str, after: int = 0) -> list[View]:
        """Events of one run behind a number of theirs."""
        return await self._events.of_run(await self._meant(run_id, Thing.RUN), after)

    async def event_sinks(self) -> list[View]:
        """Cursors of the sinks."""
        return await self._events.sinks()

    async def checkpoints(self, room: str = "", limit: int = 100) -> list[View]:
        """The last part on screen in each room."""
        return await self._events.checkpoints(await self._room_meant(room), limit)

    async def feedback(self, days: int = 30, room: str = "", limit: int = 100) -> list[View]:
        """Ratings of the last days. Errors: Refusal 403 for whoever doesn't read it."""
        await self._events.must_read_feedback(self.actor)
        return await self._events.feedback(days, await self._room_meant(room), limit)

    @property
    def _events(self) -> EventOperations:
        return EventOperations(self._context)

    async def verify_audit(self) -> View:
        return await audit.verify(self._store.audit, ends=self._context.ends)

    # ------------------------------------------------------------------------------------------------------ mending

    async def decide(self, approval_id: str, choice: str, reason: str = "") -> View:
        """Answer a question; the same transaction as a click in its room."""
        return await self._answer(approval_id, {"choice": choice, "reason": reason})

    async def edit(self, approval_id: str, arguments: str) -> View:
        """Approve a call with other arguments (JSON), or with another text where that is all it has."""
        return await self._answer(approval_id, {"choice": Choice.EDIT.value, "values": {ARGUMENTS: arguments}})

    async def always(self, approval_id: str, fields: Mapping[str, Any]) -> View:
        """Approve a call and later ones like it: `fields` are those of the form behind “Always…”."""
        return await self._answer(approval_id, {"choice": Choice.ALWAYS.value, "values": dict(fields)})

    async def ask_back(self, approval_id: str, question: str = "") -> View:
        """Ask the agent about a call that waits; its answer comes with the question's `asked_back`."""
        asked, verdict = await self._pressed(approval_id, {"choice": Choice.WHY.value, "values": {QUESTION: question}})
        if verdict.form_stays:
            raise Refusal(409, verdict.notice or "Nothing was asked.")
        return await self._approval(asked)

    async def _answer(self, approval_id: str, answer: View) -> View:
        answered, verdict = await self._pressed(approval_id, answer)
        if verdict.outcome is not Outcome.DECIDED:
            raise Refusal(409, verdict.notice or "Nothing has changed.")
        return await self._approval(answered)

    async def _pressed(self, approval_id: str, answer: View) -> tuple[ApprovalId, Verdict]:
        approval_id, mark, revision = approval_id.partition(REVISION)
        approval_id = await self._meant(approval_id, Thing.APPROVAL, state=ApprovalState.PENDING)
        question = await self._store.approvals.approval(ApprovalId(approval_id))
        if question is None:
            raise Refusal(404, f"There is no approval {approval_id}.")
        if not revision and question.asked_arguments and question.state is ApprovalState.PENDING:
            raise Refusal(409, CHANGED.format(question.as_shown))
        answer = {**answer, "choice": finding.answer(question, answer["choice"])}
        click = bodies.clicked(f"{question.id}{mark}{revision}", answer)
        return question.id, await self._context.sink(self._signal(question.address, click, self._context.new_id()))

    async def grants(self) -> list[View]:
        """All that were given, newest first, also those that ended."""
        await self._context.refresh()
        return await self._entitled([self._grant(one) for one in await self._store.approvals.grants()])

    async def grant(self, grant_id: str) -> View:
        await self._context.refresh()
        return await self._one_entitled(self._grant(await self._grant_meant(grant_id)))

    async def revoke(self, grant_id: str) -> View:
        found = await self._grant_meant(grant_id)
        if not await self._store.approvals.revoke(found.grant.id, self.actor.name):
            raise Refusal(409, f"The grant {found.grant.id} has already ended.")
        return await self.grant(found.grant.id)

    async def requeue(self, delivery_id: str) -> View:
        delivery_id = await self._meant(delivery_id, Thing.DELIVERY)
        row = await self._store.operations.requeue(DeliveryId(delivery_id), self.actor.name)
        return self._mended(row, f"{delivery_id} is neither on hold nor dead, so it can't be requeued.")

    async def reload(self) -> View:
        """Read the settings again: what changed, what needs a restart, and notes."""
        try:
            return await self._context.reload(self.actor.name)
        except ConfigError as error:
            raise Refusal(422, str(error)) from error

    async def save(self) -> View:
        """Save a copy of a lost database, and tell where it is; null while the database is in its place."""
        saved = await self._context.save()
        return {"file": str(saved) if saved else None}

    async def scan_texts(self, fields: Mapping[str, Any]) -> View:
        """Look through the next page of a table: `table`, `after` (a key, null for the first), and `redact`."""
        return await GuardScan(self._store.texts, self._context.scan_door).asked(fields)

    async def note_scan(self, counts: Mapping[str, Any]) -> View:
        """Record that a whole scan redacted rows: `rows`, `redacted` and `left`."""
        numbers = {name: counts.get(name) for name in COUNTS}
        if not all(type(one) is int and one >= 0 for one in numbers.values()):
            raise Refusal(400, f"Write numbers for {', '.join(COUNTS)}.")
        detail = SCANNED.format(**numbers)
        await self._store.cluster.note_fact("leak guard scan", self.actor.name, "", detail)
        return {"noted": detail}

    async def discard(self, delivery_id: str) -> View:
        delivery_id = await self._meant(delivery_id, Thing.DELIVERY)
        row = await self._store.operations.discard(DeliveryId(delivery_id), self.actor.name)
        return self._mended(row, f"{delivery_id} isn't waiting, or is being sent right now, so it can't be discarded.")

    async def add_person(self, name: str, role: str, identities: Sequence[str] = ()) -> View:
        name = new_name(name, self._context.door())
        wrong = next((identity for identity in identities if not is_identity(identity)), None)
        if wrong is not None:
            raise Refusal(400, f'"{wrong}" is not an identity such as telegram:1001.')
        given = [Identity(identity) for identity in identities]
        person = await self._store.people.add_person(name, _role(role), given, actor=self.actor.name)
        if person is None:
            raise Refusal(409, f'"{name}" or one of the identities is already taken.')
        return await self._person(person.name)

    async def set_role(self, name: str, role: str) -> View:
        done(await self._store.people.set_role(name, _role(role), actor=self.actor.name), name)
        return await self._person(name)

    async def pairings(self) -> list[View]:
        """People who were sent a code and wait."""
        await self._context.refresh()
        return await self._entitled([views.pairing(one, *self._names) for one in await self._store.people.pairings()])

    async def pair(self, code: str, name: str = "", role: str = "") -> View:
        """Make whoever was sent `code` known: as the person called `name` if there is one, else as a new one."""
        name = name.strip()
        if name and await self._store.people.person_named(name) is None:
            name = new_name(name, self._context.door())
        chosen = _role(role) if role else None
        if name and chosen is not None:
            await self._keep_an_owner(name, chosen)
        given, actor = self._context.rights().given, self.actor
        made = await self._store.people.pair(code, name, chosen, actor.person, actor=actor.name, given=given)
        if isinstance(made, Unpaired):
            raise Refusal(429 if made.locked else 404, made.reason)
        for address in (made.address, *made.cards):
            self._context.nudge(address)
        told = f"{made.identity} is now {made.person.name} ({made.person.role.word})"
        return {**await self._person(made.person.name), "identity": made.identity, "told": f"Paired: {told}."}

    async def link(self, name: str) -> View:
        """A new link for a person; the old one is void. The token is in this answer and nowhere else."""
        token = secrets.token_urlsafe(24)
        if await self._store.people.set_link(name, token, actor=self.actor.name) is None:
            raise Refusal(404, f'There is nobody named "{name}".')
        self._context.notifier.notify(PEOPLE)
        path = f"/link/{token}"
        return {
            "name": name,
            "path": path,
            "url": f"{self._context.public_url}{path}" if self._context.public_url else "",
        }

    async def rename_person(self, name: str, new: str) -> View:
        return await self._roster.rename(name, new)

    async def remove_person(self, name: str) -> View:
        return await self._roster.remove(name)

    async def merge_people(self, name: str, into: str) -> View:
        """Make two people one, who keeps the name, role and link of `into`."""
        return await self._roster.merge(name, into)

    async def sign_out(self, name: str) -> View:
        """Void somebody's link, and close the pages that are open by it."""
        return await self._roster.sign_out(name)

    async def forget_person(self, name: str, confirm: str = "") -> View:
        """Begin to forget somebody for good, with their name once more as `confirm`; without it tell what that would do."""
        return await (self._forgetting.begin(name, confirm) if confirm else self._forgetting.preview(name))

    async def continue_forgetting(self, which: str) -> View:
        """One slice of it. A running process goes on by itself too."""
        return await self._forgetting.proceed(which)

    async def forgettings(self) -> list[View]:
        return await self._forgetting.listed()

    async def export_person(self, name: str) -> View:
        return await self._forgetting.export(name)

    async def export_page(self, name: str, fields: Mapping[str, Any]) -> View:
        return await self._forgetting.export_page(name, fields)

    @property
    def _forgetting(self) -> ForgetOperations:
        return ForgetOperations(self._context, self.actor)

    @property
    def _roster(self) -> Roster:
        return Roster(self._context, self.actor)

    async def tokens(self) -> list[View]:
        """Tokens of programs, by name."""
        return await self._tokens.listed()

    async def make_token(
        self,
        name: str,
        role: str = "user",
        agents: Sequence[str] = (),
        rooms: Sequence[str] = (),
        until: str = "",
        per_minute: str = "",
    ) -> View:
        """Make a program a token, which is in this answer and nowhere else."""
        wanted = WantedToken(name, _role(role), agents, rooms, until, per_minute)
        return await self._tokens.made(wanted, self.actor)

    async def revoke_token(self, name: str) -> View:
        """End a token: its program is let in no more."""
        return await self._tokens.revoked(name, self.actor)

    @property
    def _tokens(self) -> TokenOperations:
        has = self._context
        return TokenOperations(has.store.programs, has.now, [row["name"] for row in has.agents()])

    # ---------------------------------------------------------------------------------------------------- schedules

    async def schedules(self, state: str = "", room: str = "") -> list[View]:
        """All that is planned, by what is due next; or what reports to one room."""
        rows = await self._schedules.listed(_word(ScheduleState, state), await self._room_meant(room))
        return await self._entitled(rows)

    async def schedule(self, name: str) -> View:
        """One, by its name or id: its next five instants and its last twenty."""
        return await self._one_entitled(await self._schedules.shown(name, self.actor))

    async def schedule_history(self, name: str, limit: int = 20) -> list[View]:
        return await self._schedules.history(name, self.actor, limit)

    async def add_schedule(self, fields: Mapping[str, Any]) -> View:
        return await self._one_entitled(await self._schedules.add(await self._with_rooms(fields), self.actor))

    async def change_schedule(self, name: str, fields: Mapping[str, Any]) -> View:
        return await self._one_entitled(await self._schedules.change(name, await self._with_rooms(fields), self.actor))

    async def pause_schedule(self, name: str, reason: str = "") -> View:
        return await self._one_entitled(await self._schedules.pause(name, self.actor, reason))

    async def resume_schedule(self, name: str) -> View:
        return await self._one_entitled(await self._schedules.resume(name, self.actor))

    async def remove_schedule(self, name: str) -> View:
        return await self._schedules.remove(name, self.actor)

    async def run_schedule(self, name: str) -> View:
        """Begin one occurrence now, whatever the clock says."""
        return await self._schedules.run(name, self.actor)

    @property
    def _schedules(self) -> ScheduleOperations:
        if self._context.schedules is None:
            raise Refusal(404, "Scheduling isn't available here.")
        return self._context.schedules

    # -------------------------------------------------------------------------------------------------------- tasks

    async def tasks(self, state: str = "", room: str = "") -> list[View]:
        """Tasks of all rooms, or of one, newest first."""
        rows = await self._tasks.listed(_word(TaskState, state), await self._room_meant(room))
        return await self._entitled(rows)

    async def task(self, name: str) -> View:
        """One, by its id or the end of that."""
        await self._context.refresh()
        return await self._one_entitled(await self._tasks.shown(name))

    async def drop_task(self, name: str) -> View:
        return await self._tasks.drop_task(name, self.actor)

    async def retry_task(self, name: str) -> View:
        return await self._tasks.retry_task(name, self.actor)

    @property
    def _tasks(self) -> TaskOperations:
        has = self._context
        return TaskOperations(has.store.tasks, has.notifier, has.stop, has.nudge, has.named, has.called, has.mask)

    # ---------------------------------------------------------------------------------------------------- processes

    async def processes(self, room: str = "") -> list[View]:
        """Programs that agents started, newest first."""
        return await self._entitled(await self._processes.listed(await self._room_meant(room)))

    async def stop_process(self, name: str) -> View:
        return await self._processes.stopped(name, self.actor)

    @property
    def _processes(self) -> ProcessOperations:
        has = self._context
        return ProcessOperations(has.store.processes, has.named, has.called, has.mask)

    # ---------------------------------------------------------------------------------------------------- handed on

    async def handed_on(self, state: str = "", room: str = "", run: str = "") -> list[View]:
        """Pieces of work that agents handed on, tree by tree: newest first, of one room, or around one run."""
        where = await self._room_meant(room)
        if not run:
            return await self._entitled(await self._handed_on.listed(_word(ChildState, state), where))
        return await self._entitled(await self._handed_on.around(RunId(await self._meant(run, Thing.RUN))))

    async def child(self, name: str) -> View:
        """One piece, by its id or the end of that, with all below it."""
        await self._context.refresh()
        return await self._one_entitled(await self._handed_on.shown(name))

    async def stop_child(self, name: str) -> View:
        return await self._handed_on.stop(name, self.actor)

    @property
    def _handed_on(self) -> HandedOn:
        has = self._context
        return HandedOn(has.store.delegation, has.notifier, has.stop, has.nudge, has.named, has.called, has.mask)

    # ----------------------------------------------------------------------------------------------------- triggers

    async def triggers(self) -> list[View]:
        """Work that begins when something happens."""
        return await self._triggers.listed()

    async def resume_trigger(self, name: str) -> View:
        return await self._triggers.resumed(name, self.actor)

    async def end_trigger(self, name: str) -> View:
        return await self._triggers.ended(name, self.actor)

    async def pause_trigger(self, name: str) -> View:
        return await self._triggers.paused(name, self.actor)

    async def hands(self) -> list[View]:
        """Agents that work by the clock, one file each: their schedules, and when they worked last."""
        rows = [row for row in await self.schedules() if row["name"].startswith(HAND_SCHEDULE)]
        return [hand_of(row, await self.schedule_history(row["id"], 1)) for row in rows]

    # -------------------------------------------------------------------------------------------------------- goals

    async def goals(self, state: str = "") -> list[View]:
        """Goals that were set, newest first."""
        return await self._entitled(await self._goals.listed(state))

    async def goal(self, name: str) -> View:
        """One, by its id or the end of that, with its turns and verdicts."""
        await self._context.refresh()
        return await self._one_entitled(await self._goals.shown(name))

    async def stop_goal(self, name: str) -> View:
        return await self._one_entitled(await self._goals.stop(name, self.actor))

    @property
    def _goals(self) -> GoalOperations:
        has = self._context
        return GoalOperations(has.store, has.notifier, has.stop, has.nudge, has.named, has.called, has.mask)

    @property
    def _triggers(self) -> TriggerOperations:
        has = self._context
        return TriggerOperations(has.store.triggers, has.notifier, has.called, has.mask)

    # ----------------------------------------------------------------------------------------------------- sign-ins

    async def logins(self) -> list[View]:
        """Sign-ins at issuers and MCP servers, each with its end."""
        return await self._logins.listed()

    async def keep_login(self, name: str, fields: Mapping[str, Any]) -> View:
        kept = await self._logins.keep(name, fields, self.actor)
        for one in self._context.models():  # those that rested for want of a token are asked again
            if one.given.login == name and await self._store.cooldowns.clear(one.name, self.actor.person.name):
                self._context.notifier.notify(COOLDOWNS)
        return kept

    async def drop_login(self, name: str) -> View:
        return await self._logins.drop(name, self.actor)

    @property
    def _logins(self) -> LoginOperations:
        has = self._context
        return LoginOperations(has.store.logins, has.logins(), has.now)

    # ---------------------------------------------------------------------------------------------------- workflows

    async def workflows(self) -> list[View]:
        """Workflows of the settings, by name."""
        return self._workflows.listed()

    async def workflow(self, name: str) -> View:
        return self._workflows.one(name)

    async def start_workflow(self, name: str, to: str, inputs: Mapping[str, Any]) -> View:
        """Begin one now. Its report and its questions come into the room `to`."""
        room = await self._room_meant(to)
        if room is None:
            raise Refusal(400, "A workflow needs a room: write it as `--to slack:work/C1`.")
        return await self._one_entitled(await self._workflows.start(name, room, inputs, self.actor))

    async def workflow_runs(self, name: str = "", state: str = "") -> list[View]:
        """Workflows that were begun, newest first: of one name, or in one state."""
        return await self._entitled(await self._workflows.begun(name, state))

    async def workflow_run(self, which: str) -> View:
        """One that was begun, by its id or the end of that."""
        await self._context.refresh()
        return await self._one_entitled(await self._workflows.shown(which))

    async def cancel_workflow(self, which: str) -> View:
        return await self._one_entitled(await self._workflows.cancel(which, self.actor))

    async def resume_workflow(self, which: str) -> View:
        return await self._one_entitled(await self._workflows.resume(which, self.actor))

    @property
    def _workflows(self) -> WorkflowOperations:
        has = self._context
        return WorkflowOperations(
            store=has.store,
            flows=has.workflows,
            agent=MAIN,
            notifier=has.notifier,
            stop_run=has.stop,
            nudge=has.nudge,
            named=has.named,
            called=has.called,
            mask=has.mask,
            new_id=has.new_id,
        )

    # ------------------------------------------------------------------------------------------------------ harness

    async def harness_runs(self) -> list[View]:
        """Long work, newest first."""
        await self._context.refresh()
        return await self._entitled(await self._harness.listed())

    async def init_harness(self, to: str, text: str, agent: str = "") -> View:
        """Write the plan of long work into the workspace of a room. `text` is a goal, as in a chat."""
        return await self._harness.begin_files(await self._work_room(to), self._agent_named(agent), text)

    async def run_harness(self, to: str, agent: str = "") -> View:
        """Begin long work by the plan of a room."""
        room = await self._work_room(to)
        return await self._one_entitled(await self._harness.begin(room, self._agent_named(agent), self.actor))

    async def harness_run(self, which: str) -> View:
        """One of them with its turns, by its id or the end of that."""
        await self._context.refresh()
        return await self._one_entitled(await self._harness.shown(which))

    async def resume_harness(self, which: str) -> View:
        return await self._one_entitled(await self._harness.resume(which, self.actor))

    async def _work_room(self, to: str) -> Address:
        room = await self._room_meant(to)
        if room is None:
            raise Refusal(400, "Long work needs a room: write it as `--to slack:work/C1`.")
        return room

    def _agent_named(self, name: str) -> str:
        known = [str(one["name"]) for one in self._context.agents()]
        if name and name not in known:
            raise Refusal(404, f"There is no agent {name!r}. There are: {', '.join(known)}.")
        return name or MAIN

    @property
    def _harness(self) -> HarnessOperations:
        has = self._context
        return HarnessOperations(
            store=has.store,
            folders=has.folders,
            bounds=has.goals,
            notifier=has.notifier,
            named=has.named,
            called=has.called,
            mask=has.mask,
            new_id=has.new_id,
            now=has.now,
            door=has.door,
        )

    # ----------------------------------------------------------------------------------------------------- memories

    async def memories(self, agent: str = "", scope: str = "", room: str = "", limit: int = 100) -> list[View]:
        """Memories of rooms, agents and all, newest first; of people the operator's own alone."""
        memories, where = await self._memories(), await self._room_meant(room)
        rows = await memories.listed(agent, _word(ScopeKind, scope), where, limit, self.actor)
        return await self._entitled(rows)

    async def memory_counts(self) -> list[View]:
        """Count what is kept, by agent and whose it is: of other people nothing else is told."""
        return await self._entitled(await (await self._memories()).counts())

    async def memory(self, name: str) -> View:
        return await self._one_entitled(await (await self._memories()).shown(name, self.actor))

    async def put_memory(
        self, text: str, scope: str, agent: str = "", room: str = "", subject: str = "", relation: str = ""
    ) -> View:
        """Keep one for a room, an agent or all."""
        kind, where = _word(ScopeKind, scope), await self._room_meant(room)
        if kind is None:
            raise Refusal(400, "Say for whom: room, agent or all.")
        return await (await self._memories()).put(text, kind, agent, where, (subject, relation), self.actor)

    async def accept_memory(self, name: str) -> View:
        return await (await self._memories()).accept(name, self.actor)

    async def delete_memory(self, name: str) -> View:
        return await (await self._memories()).delete(name, self.actor)

    async def _memories(self) -> MemoryOperations:
        has = self._context
        people = {str(known.person.id): known.person.name for known in await self._store.people.people()}
        await has.refresh()
        return MemoryOperations(
            *(self._store.memories, has.notifier, people, has.named, has.called, has.door().clean, has.mask),
            agents=list(dict.fromkeys([MAIN, *(agent["name"] for agent in has.agents())])),
        )

    # ---------------------------------------------------------------------------------------------------- knowledge

    async def knowledge(self) -> list[View]:
        """Packs of documents that have been read."""
        return await self._knowledge.listed()

    async def knowledge_documents(self, name: str) -> list[View]:
        return await self._knowledge.shown(name)

    async def search_knowledge(self, query: str, pack: str = "") -> list[View]:
        """The best passages for a query, as an agent would find them."""
        return await self._knowledge.searched(query, pack)

    @property
    def _knowledge(self) -> KnowledgeOperations:
        search = search_of(self._store, self._context.meaning)
        return KnowledgeOperations(self._store.knowledge, search, self._context.mask)

    # ------------------------------------------------------------------------------------------------------- skills

    async def skills(self) -> list[View]:
        """Skills of all sources, and how each stands."""
        return await self._skills.listed()

    async def skill(self, name: str) -> View:
        return await self._skills.shown(name)

    async def approve_skill(self, name: str, form: str = "") -> View:
        """Accept a skill as it is now, or in the form that was seen."""
        return await self._skills.approve(name, form)

    async def remove_skill(self, name: str) -> View:
        return await self._skills.remove(name)

    @property
    def _skills(self) -> SkillOperations:
        has = self._context
        clean = partial(has.door().clean, gate=Gate.MEMORY_WRITE)
        return SkillOperations(has.skills, self._context.store.skills, has.notifier, has.mask, clean, self.actor)

    # ------------------------------------------------------------------------------------------------------ reports

    async def reports(self) -> list[View]:
        """Reports that are made without a model, with their options."""
        return await self._reports.listed()

    async def report(self, report_id: str) -> View:
        """Progress of a report that was begun."""
        return await self._reports.state(report_id)

    async def make_report(self, name: str, to: Sequence[str], options: Mapping[str, Any]) -> View:
        """Have one made for the rooms `to`, now."""
        rooms = await self._with_rooms({"to": list(to)})
        return await self._reports.begin(name, rooms["to"], options, self.actor)

    async def print_report(self, name: str, options: Mapping[str, Any]) -> View:
        """Its text, shown to nobody else."""
        await self._context.refresh()
        return await self._reports.text(name, options, self.actor)

    async def reach(self, room: str) -> View:
        """The reason nothing can be posted in a room; empty where nothing is known against it."""
        return {"room": room, "why": await self._reports.out_of_reach(room)}

    @property
    def _reports(self) -> ReportOperations:
        if self._context.reports is None:
            raise Refusal(404, "Reports aren't available here.")
        return self._context.reports

    # -------------------------------------------------------------------------------------------------------- rooms

    async def say(self, room: str, text: str, id: str) -> View:
        """Say `text` in a room of the web channel; the same `id` again is the same message."""
        words, _ = bodies.said({"text": text})
        signal = self._signal(self._room(room), Said(words), id)
        verdict = await self._context.sink(signal)
        if verdict.outcome is Outcome.REFUSED:
            raise Refusal(403, verdict.notice or "This message was refused.")
        return {"outcome": verdict.outcome, "id": verdict.signal_id}

    async def room(self, room: str) -> View:
        """The conversation as it is."""
        return await self._look(self._room(room))

    async def change(self, room: str, seen: str = "", seconds: int = 25) -> View:
        """The conversation once it differs from version `seen`, or as it is after some seconds."""
        address = self._room(room)
        rings = self._context.notifier.listen(
            room_topic(address)
        )  # before the first look: no ring falls between the two
        end = asyncio.get_running_loop().time() + min(seconds, LONGEST_WAIT.total_seconds())
        while True:
            view = await self._look(address)
            left = end - asyncio.get_running_loop().time()
            if view["version"] != seen or left <= 0:
                return view
            await _next(rings, min(left, GLANCE.total_seconds()))

    async def _look(self, address: Address) -> View:
        seen = await self._store.history.view(address)
        work = await self._store.operations.room_work(address)  # after it: a room that rests has asked all it will ask
        view = views.room(
            seen.entries,
            busy=seen.busy or work.run in AT_WORK,  # a question may have been answered in between
            approvals=work.questions,
            named=self._context.named,
            called=self._context.called,
            run_state=work.run,
        )
        return {**view, "version": _digest(view)}

    @property
    def _names(self) -> tuple[Named, Named]:
        return self._context.named, self._context.called

    async def _entitled(self, rows: Sequence[View]) -> list[View]:
        return await titles.entitled(self._context, rows)

    async def _one_entitled(self, row: View) -> View:
        return (await self._entitled([row]))[0]

    async def _meant(self, words: str, thing: Thing, *, state: str = "") -> str:
        """The id of what an operator named. Errors: Refusal."""
        await self._context.refresh()
        return await self._context.finder.one(words, thing, state=state)

    async def _with_rooms(self, fields: Mapping[str, Any]) -> Mapping[str, Any]:
        """`fields` with the addresses of rooms that are called by their names."""
        return {**fields, "to": await self._context.finder.addresses(fields["to"])} if fields.get("to") else fields

    async def _room_meant(self, words: str) -> Address | None:
        """The room that a list is narrowed to; None for all."""
        await self._context.refresh()
        return await self._context.finder.room(words) if words.strip() else None

    def _room(self, room: str) -> Address:
        if not ROOM_NAME.fullmatch(room):
            raise Refusal(404, "A room's name has 6 to 32 lowercase letters and digits.")
        return Address(CHANNEL, self._context.web_account, room)

    def _signal(self, address: Address, body: Body, event_id: str) -> Signal:
        return Signal(
            platform=self._context.web_account,
            dedupe_key=f"console:{self.actor.identity}#{event_id}",
            actor=self.actor.identity,
            actor_name=self.actor.person.name,
            address=address,
            body=body,
            received_at=self._context.now(),
            console=isinstance(body, Clicked),
        )

    async def _grant_meant(self, words: str) -> Granted:
        """The grant with this id, or that begins so. Errors: Refusal."""
        every = await self._store.approvals.grants()
        found = meant(words, every, ids=lambda one: one.grant.id, names=lambda _: ())
        if len(found) == 1:
            return found[0]
        if found:
            several = ", ".join(one.grant.id for one in found)
            raise Refusal(409, f"Several begin with {words.strip()!r}: {several}.")
        raise Refusal(404, f"There is no grant {words}. Give its id, or at least its first four characters.")

    def _grant(self, one: Granted) -> View:
        return views.grant(one, self._context.effect_of(one), *self._names)

    def _mended(self, row: DeliveryRow | None, refusal: str) -> View:
        if row is None:
            raise Refusal(409, refusal)
        self._context.nudge(row.address)
        return views.delivery(row, *self._names)

    async def _approval(self, approval_id: ApprovalId) -> View:
        row = await self._store.approvals.approval(approval_id)
        if row is None:
            raise Refusal(404, f"There is no approval {approval_id}.")
        return await self._question(row)

    async def _question(self, row: Approval) -> View:
        """A question, with the votes so far where it waits for several people."""
        waits = row.state is ApprovalState.PENDING and row.terms.quorum > 1
        voted = await self._store.approvals.approved_by(row, self._context.rights()) if waits else ()
        return views.approval(row, *self._names, voted)

    async def _person(self, name: str) -> View:
        known = await self._store.people.person_named(name)
        if known is None:
            raise Refusal(404, f'There is nobody named "{name}".')
        return views.person(known)

    async def _keep_an_owner(self, name: str, role: Role) -> None:
        owners = [known.person.name for known in await self._store.people.people() if known.person.role is Role.OWNER]
        if role is not Role.OWNER and owners == [name]:
            raise Refusal(409, f"{name} is the only owner. Make somebody else an owner first.")


async def _next(rings: AsyncIterator[str], seconds: float) -> None:
    """Until it rings, at most `seconds`."""
    try:
        async with asyncio.timeout(seconds):
            await anext(rings)
    except TimeoutError:
        return


def _word(kind: type[Word], text: str) -> Word | None:
    """A word of a closed set; None for no word. Errors: Refusal lists the set."""
    if not text:
        return None
    try:
        return kind(text)
    except ValueError:
        raise Refusal(400, f'"{text}" isn\'t one of: {", ".join(kind)}.') from None


def _role(text: str) -> Role:
    try:
        return Role[text.upper()]
    except KeyError:
        raise Refusal(400, f'"{text}" is not a role. Roles are {", ".join(role.word for role in Role)}.') from None


def _digest(view: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(view, sort_keys=True).encode()).hexdigest()[:16]
