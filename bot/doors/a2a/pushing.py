"""Push notifications: each stage of a task is posted to the places that its program named, in order and at least once.

A stage is counted as told once its place took it, so a kill in between means that it comes again, with the same delivery id.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from typing import Final

import structlog

from bot.doors.a2a.places import PushPlace
from bot.doors.a2a.wire import Dialect, FileLink, Shown, task, updates
from bot.wiring.events.pushes import PUSH_TOOL, PushWay
from runtime.contract import Now, Probe, no_probe
from runtime.domain.ids import digest
from runtime.domain.programs.followed import Followed
from runtime.domain.programs.stages import Push, PushDue, Stage, untold
from runtime.domain.programs.token import PROGRAM_PREFIX
from runtime.egress import NoAnswer, Refused
from runtime.errors import StoreError
from runtime.guard.sealing import Unsealable
from runtime.store.programs.pushes import PushStore
from runtime.store.programs.store import ProgramStore
from runtime.store.protocol import Duty

PUSH_ROLE: Final = "push notifications"
PUSH_LOOK: Final = timedelta(seconds=0.5)
PUSH_TIMEOUT: Final = timedelta(seconds=20)
PUSH_ANSWER_MAX_BYTES: Final = 2_000
PUSH_FAULT_MAX_CHARS: Final = 200
PUSHES_A_PROGRAM: Final = 4
"""Notifications of one program that are on their way at once: its other places wait."""
DELIVERY_ID_CHARS: Final = 24
DELIVERY_HEADER: Final = "X-Signalbox-Delivery"
"""Its value is the same for each try of one notification, and for no other one."""
CONTENT_TYPES: Final = {Dialect.ONE: "application/a2a+json", Dialect.OLD: "application/json"}
OTHER_KEY: Final = (
    "Its address was sealed with the key of another node. Nodes share one by `shared_key` under `[secrets]`."
)
log = structlog.get_logger("a2a")


class Pusher:
    """Tells every place, each on its own: one that hangs keeps no other waiting."""

    def __init__(
        self,
        *,
        pushes: PushStore,
        programs: ProgramStore,
        way: PushWay,
        take: Callable[[str], Awaitable[Duty | None]],
        now: Now,
        link: FileLink,
        probe: Probe = no_probe,
        each: timedelta = PUSH_LOOK,
    ) -> None:
        self._each = each
        self._pushes = pushes
        self._programs = programs
        self._way = way
        self._take = take
        self._now = now
        self._link = link
        self._probe = probe
        self._busy: dict[tuple[str, str], str] = {}
        """Places that are being told, with their programs."""

    async def rest(self) -> None:
        """Serve until no place is left, or another node does."""
        async with asyncio.TaskGroup() as group:
            while True:
                if not await self._look(group):
                    return
                await asyncio.sleep(self._each.total_seconds())

    async def _look(self, group: asyncio.TaskGroup) -> bool:
        """Begin to tell what is due; false where nothing is left to do here."""
        try:
            duty = await self._take(PUSH_ROLE) if await self._pushes.any_push() else None
            if duty is not None:
                await self._begin(group, duty)
            return duty is not None
        except StoreError as error:  # what is on its way goes on
            log.debug("push notifications wait", reason=str(error))
            return True

    async def _begin(self, group: asyncio.TaskGroup, duty: Duty) -> None:
        after = ("", "")
        while True:
            before = {*self._busy}  # what a page says of these may be old when it is here
            if not (page := await self._pushes.due(after)):
                return
            after = (page[-1].push.task, page[-1].push.name)
            for one in page:
                key = (one.push.task, one.push.name)
                is_due = one.story is None or untold(one.story, one.push.told)
                if is_due and key not in before and self._has_turn(key, one.push.program):
                    self._busy[key] = one.push.program
                    group.create_task(self._kept(duty, one))

    def _has_turn(self, key: tuple[str, str], program: str) -> bool:
        """One place at a time once, and few of each program: places that hang would take the turns of all others."""
        return key not in self._busy and [*self._busy.values()].count(program) < PUSHES_A_PROGRAM

    async def _kept(self, duty: Duty, due: PushDue) -> None:
        try:
            await self.serve(duty, due)
        except StoreError as error:
            log.debug("a push notification waits", task=due.push.task, reason=str(error))
        finally:
            del self._busy[due.push.task, due.push.name]

    async def serve(self, duty: Duty, due: PushDue) -> None:
        """Tell a place all that it wasn't told, as far as it takes that. Errors: StoreError."""
        push = due.push
        found = await self._programs.followed(push.task)
        if due.story is None or found is None or not await self._may_hear(push):
            await self._pushes.drop_push(push.task, push.name)
            return
        for number, stage in untold(due.story, push.told):
            if fault := await self._post(push, number, found, stage):
                log.debug("a push notification wasn't taken", task=push.task, reason=fault)
                if not await self._pushes.push_failed(duty, push, fault[:PUSH_FAULT_MAX_CHARS]):
                    log.warning("push notifications of a task were given up", task=push.task, reason=fault)
                return
            self._probe("pushed")
            if not await self._pushes.push_told(duty, push, number + 1, over=stage.state.is_over):
                return

    async def _may_hear(self, push: Push) -> bool:
        """Only while its program may speak itself."""
        token, who = await self._programs.holder_named(push.program.removeprefix(PROGRAM_PREFIX)) or (None, None)
        return token is not None and who is not None and not token.fault(self._now())

    async def _post(self, push: Push, number: int, found: Followed, stage: Stage) -> str:
        """Send one notification; the reason it was not taken, empty where it was."""
        try:
            place = PushPlace.of_text(self._way.sealer().open(push.sealed, push.about))
        except Unsealable:
            return OTHER_KEY
        dialect = Dialect(push.dialect)
        which = "end" if stage.state.is_over else number
        name = digest(f"{push.task} {push.name} {which}")[:DELIVERY_ID_CHARS]
        headers = {**place.headers, "Content-Type": CONTENT_TYPES[dialect], DELIVERY_HEADER: name}
        try:
            answer = await self._way.egress.request(
                "POST",
                place.url,
                tool=PUSH_TOOL,
                headers=headers,
                body=json.dumps(told(found, stage, dialect, self._link), ensure_ascii=False).encode(),
                most=PUSH_ANSWER_MAX_BYTES,
                timeout=PUSH_TIMEOUT,
            )
        except (Refused, NoAnswer) as error:
            return str(error)
        return "" if 200 <= answer.status < 300 else f"It answered {answer.status}."


def told(found: Followed, stage: Stage, dialect: Dialect, link: FileLink) -> Shown:
    """Body of a notification: the whole task in 0.3 and at its end, else the change of its state."""
    if stage.state.is_over:
        whole = task(found, dialect, link, own=False)
        return whole if dialect is Dialect.OLD else {"task": whole}
    then = replace(found, state=stage.state, at=stage.at, ended_at=None, questions=stage.questions, text="", error="")
    return task(then, dialect, link, own=False) if dialect is Dialect.OLD else updates(then, dialect, link)[-1]
