"""Bugs put into the built program from outside, each of which the checker must find. The product knows of none.

Most bend what an operation of the store asks of its engine, or what it is told: there every way of reaching the
database passes, whatever the transactions are called.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import count
from typing import Any, Final

from sqlalchemy import Executable, bindparam, select, update

import runtime.delivery.sender
from bot.server.app import App
from runtime.agent.delegation.orders import Delegating
from runtime.agent.outcome import RunOutcome
from runtime.agent.run_state import LiveRun
from runtime.contract import (
    ChannelAdapter,
    Delivery,
    DeliveryId,
    Hands,
    Json,
    Outcome,
    Part,
    Receipt,
    Signal,
    SignalId,
    Sink,
    TaskState,
    Verdict,
    Wire,
)
from runtime.domain.runs import RunState
from runtime.store.common import OWNED_LANE, at_once, going_on
from runtime.store.delegation.ending import SETTLE
from runtime.store.delegation.rows import CHILD_KEPT, OF_STEP
from runtime.store.protocol import Duty, Lease, NewDelivery, ToolStep
from runtime.store.protocol.leases import Beat
from runtime.store.runs.run_begin import LESS_WAITING, STEERABLE, WAITING_SIGNALS
from runtime.store.runs.steps import OPEN_STEPS, RUN_FACTS
from runtime.store.schema import parts, sessions
from runtime.store.sql.driver import SEVERAL, MakeOp, Op, Query, Rows, T, each_of, is_word
from runtime.store.tasks.rows import SET_TASK

Plant = Callable[[App], None]
BendQuery = Callable[[Query], Query]
BendRows = Callable[[Executable, Rows], Rows]

WIPE_MARKERS: Final = update(parts).where(is_word(parts.c.state, "marked")).values(state="pending", attempts=0)
UNFENCED_LANE: Final = select(sessions.c.next_turn, sessions.c.waiting, sessions.c.resumable).where(
    sessions.c.key == bindparam("key")
)
SLOW_COMMIT: Final = 0.4  # seconds


# ------------------------------------------------------------------------------------------------ bending the store


def bend(app: App, *, query: BendQuery = lambda asked: asked, rows: BendRows = lambda _, told: told) -> None:
    """From now on each write asks what `query` makes of its question, and is told what `rows` makes of the answer."""

    def asking(make: MakeOp[T]) -> Op[T]:
        op = make()
        try:
            asked = next(op)
            while True:
                given = each_of(asked)
                answers: Any = yield at_once(*map(query, given))
                bent: list[Any] = [rows(one, told) for (one, _), told in zip(given, answers, strict=True)]
                asked = op.send(bent if asked[0] in SEVERAL else bent[0])
        except StopIteration as end:
            result: T = end.value
            return result

    driver, write = app.store.driver, app.store.driver.write
    setattr(driver, "write", lambda make, **more: write(lambda: asking(make), **more))  # noqa: B010 - a method is put in its place


def skipped_marker(app: App) -> None:
    """The marker of a part is gone again before it is committed."""

    def wiped(make: MakeOp[T]) -> Op[T]:
        result = yield from going_on(make())
        yield WIPE_MARKERS, {}
        return result

    driver, write = app.store.driver, app.store.driver.write
    setattr(driver, "write", lambda make, **more: write(lambda: wiped(make), **more))  # noqa: B010


def dropped_fence(app: App) -> None:
    """An owner's write goes in whoever owns the lane by now, also for a run that another one has ended."""
    bend(
        app,
        query=lambda asked: (UNFENCED_LANE, asked[1]) if asked[0] is OWNED_LANE else asked,
        rows=lambda asked, told: [(*told[0][:3], "running", told[0][4])] if asked is RUN_FACTS else told,
    )


def deaf_node(app: App) -> None:
    """It never learns that it was declared dead. No bug that may show: that is what fences are for."""

    renewed = app.store.cluster.beat

    async def beat(lease: Lease, ttl: timedelta, *, offset: timedelta | None = None) -> Beat:
        return await renewed(lease, ttl, offset=offset) or Beat()

    app.store.cluster.beat = beat  # type: ignore[method-assign]


def counter_kept(app: App) -> None:
    """The lane goes on counting signals that were taken out of it."""
    bend(app, query=lambda asked: (asked[0], {**asked[1], "less": 0}) if asked[0] is LESS_WAITING else asked)


def order_swapped(app: App) -> None:
    """Of several waiting messages the last one comes first."""
    bend(app, rows=lambda asked, told: told[::-1] if asked in (WAITING_SIGNALS, STEERABLE) else told)


def doubt_forgotten(app: App) -> None:
    """A call that was cut is taken for one that never began, so that it runs again with nobody's word."""
    states = [column.name for column in OPEN_STEPS.selected_columns].index("state")

    def forget(asked: Executable, told: Rows) -> Rows:
        if asked is not OPEN_STEPS:
            return told
        return [(*row[:states], row[states].replace("marked", "open"), *row[states + 1 :]) for row in told]

    bend(app, rows=forget)


def checkpoint_not_written(app: App) -> None:
    """That a part is on screen is not recorded, for one delivery of two."""
    written = app.store.outbox.checkpoint

    async def checkpoint(duty: Duty, delivery: DeliveryId, ordinal: int, receipt: Receipt) -> bool:
        if delivery.encode()[-1] % 2:
            await asyncio.sleep(0.1)  # so that whoever tries again and again does not take the whole processor
            return True
        return await written(duty, delivery, ordinal, receipt)

    app.store.outbox.checkpoint = checkpoint  # type: ignore[method-assign]


# -------------------------------------------------------------------------------------------- bending the channels


def of_each_adapter(app: App, name: str, bent: Callable[[ChannelAdapter, Any], Any]) -> None:
    for adapter in (account._adapter for account in app.at.accounts):
        setattr(adapter, name, bent(adapter, getattr(adapter, name)))


def of_each_sink(app: App, bent: Callable[[Sink], Sink]) -> None:
    of_each_adapter(app, "listen", lambda _, listen: lambda sink: listen(bent(sink)))


def early_acknowledgement(app: App) -> None:
    """The platform is told before the message is stored."""
    waiting: set[asyncio.Task[None]] = set()

    def early(sink: Sink) -> Sink:
        async def store(signal: Signal) -> None:
            await asyncio.sleep(SLOW_COMMIT)
            await sink(signal)

        async def take(signal: Signal) -> Verdict:
            task = asyncio.create_task(store(signal))
            waiting.add(task)
            task.add_done_callback(waiting.discard)
            return Verdict(Outcome.ACCEPTED, SignalId("not-yet"))

        return take

    of_each_sink(app, early)


def dedupe_ignored(app: App) -> None:
    """An event that comes again is another event."""
    numbers = count(1)

    def forgetful(sink: Sink) -> Sink:
        return lambda signal: sink(replace(signal, dedupe_key=f"{signal.dedupe_key}!{next(numbers)}"))

    of_each_sink(app, forgetful)


def repeated_part(app: App) -> None:
    """Each message is sent twice."""

    def twice(_: ChannelAdapter, show: Callable[[Part], Any]) -> Callable[[Part], Any]:
        async def shown(part: Part) -> Receipt:
            await show(part)
            receipt: Receipt = await show(part)
            return receipt

        return shown

    of_each_adapter(app, "show", twice)


def parts_swapped(app: App) -> None:
    """The last message of an answer comes first."""

    def swapped(_: ChannelAdapter, render: Callable[[Delivery], Sequence[Wire]]) -> Callable[[Delivery], list[Wire]]:
        return lambda delivery: [*render(delivery)][::-1]

    of_each_adapter(app, "render", swapped)


def one_look(app: App) -> None:
    """One empty look is enough to send a part again."""
    runtime.delivery.sender.EMPTY_LOOKS = 1  # type: ignore[misc]  # this process is nobody else's


# --------------------------------------------------------------------------------- bending what is handed on


def children_doubled(app: App) -> None:
    """Each piece of work is begun twice."""
    hand = Delegating.hand

    async def twice(
        self: Delegating, run: LiveRun, step: ToolStep, hands: Hands, arguments: Mapping[str, Json]
    ) -> str | None:
        return await hand(self, run, step, lambda given: [*hands(given)] * 2, arguments)

    Delegating.hand = twice  # type: ignore[method-assign]  # this process is nobody else's


def child_wait_kept(app: App) -> None:
    """A child is over, and its parent waits on."""
    bend(app, query=lambda asked: (asked[0], {**asked[1], "child": "nobody"}) if asked[0] is SETTLE else asked)


def answers_swapped(app: App) -> None:
    """What one child answered stands in the place of another's."""
    bend(app, rows=lambda asked, told: told[::-1] if asked is OF_STEP else told)


def end_untold(app: App) -> None:
    """Work that nobody waited for ends without a word."""
    awaits = [column.name for column in CHILD_KEPT.selected_columns].index("awaits")
    bend(app, rows=lambda asked, told: [(*row[:awaits], 1) for row in told] if asked is CHILD_KEPT else told)


def task_claim_kept(app: App) -> None:
    """A task that is done stays claimed."""

    def keep(asked: Query) -> Query:
        is_end = asked[0] is SET_TASK and asked[1]["new_state"] == TaskState.DONE
        return (asked[0], {**asked[1], "new_state": TaskState.CLAIMED.value}) if is_end else asked

    bend(app, query=keep)


def task_told_twice(app: App) -> None:
    """The end of a task comes twice into its room."""
    closing = RunOutcome.closing

    async def twice(self: RunOutcome, run: LiveRun, state: RunState, text: str) -> Sequence[NewDelivery]:
        made = await closing(self, run, state, text)
        if run.claim.task is None:
            return made
        return [*made, *(replace(one, id=DeliveryId(f"{one.id}x"), origin=f"{one.origin}x") for one in made)]

    RunOutcome.closing = twice  # type: ignore[method-assign]  # this process is nobody else's


HARMLESS: Final[Mapping[str, Plant]] = {"deaf-node": deaf_node}
"""What makes life harder, and must break nothing."""

BUGS: Final[Mapping[str, Plant]] = {
    "skipped-marker": skipped_marker,
    "dropped-fence": dropped_fence,
    "counter-kept": counter_kept,
    "order-swapped": order_swapped,
    "doubt-forgotten": doubt_forgotten,
    "checkpoint-not-written": checkpoint_not_written,
    "early-acknowledgement": early_acknowledgement,
    "dedupe-ignored": dedupe_ignored,
    "repeated-part": repeated_part,
    "parts-swapped": parts_swapped,
    "one-look": one_look,
    "children-doubled": children_doubled,
    "child-wait-kept": child_wait_kept,
    "answers-swapped": answers_swapped,
    "end-untold": end_untold,
    "task-claim-kept": task_claim_kept,
    "task-told-twice": task_told_twice,
}

PLANTS: Final[Mapping[str, Plant]] = {**HARMLESS, **BUGS}
