"""Requests about push notifications: places are kept, shown and dropped, each by the program whose task it is."""

from __future__ import annotations

from bot.doors.a2a.places import PushPlace, asked_place, may_be_told, names_in, place_beside, shown_place
from bot.doors.a2a.tasks import TASK_OVER, A2aTasks
from bot.doors.a2a.wire import A2aError, Code, Dialect, Method, Shown
from bot.doors.callers import Caller
from bot.operator.context import OperatorContext
from bot.wiring.events.pushes import PUSH_TOOL
from runtime.cluster.topics import PUSHES
from runtime.contract import SignalId
from runtime.domain.programs.stages import Push
from runtime.domain.programs.token import is_vouched
from runtime.egress import Refused
from runtime.guard.sealing import Unsealable
from runtime.store.programs.pushes import PLACES_A_PROGRAM, PUSHES_A_TASK, NewPush

NO_PLACE: str = "There is no such place for push notifications of this task."
NOT_TOLD: str = "Push notifications can't go there. {why}"
NEVER_TOLD: str = "Push notifications need a token of Signalbox itself: a provider's is over before a task may be. Follow the task instead."
TOO_MANY_PLACES: str = (
    f"A task has at most {PUSHES_A_TASK} places for push notifications, and a program {PLACES_A_PROGRAM} at once."
)


class A2aPushes:
    def __init__(self, context: OperatorContext, tasks: A2aTasks) -> None:
        self._context = context
        self._tasks = tasks
        self._way = context.push_way()

    async def wanted(self, caller: Caller, given: Shown, dialect: Dialect) -> PushPlace | None:
        """The place that comes with a message, looked at before that is taken in. Errors: A2aError."""
        place = place_beside(given, dialect)
        if place is not None:
            must_outlast(caller)
            await self._look_at(caller, place)
        return place

    async def keep(self, caller: Caller, task: SignalId, place: PushPlace, dialect: Dialect) -> None:
        """Have a place told of each change of a task from its first on. Errors: A2aError."""
        about = Push.about_of(task, place.name)
        sealed = self._way.sealer().seal(place.as_text(), about)
        new = NewPush(task=task, name=place.name, program=caller.identity, dialect=dialect.value, sealed=sealed)
        if not await self._context.store.pushes.put_push(new):
            raise A2aError(Code.INVALID_PARAMS, TOO_MANY_PLACES)
        self._context.notifier.notify(PUSHES)

    async def answer(self, method: Method, caller: Caller, given: Shown, dialect: Dialect) -> object:
        """Result of one request. Errors: A2aError."""
        if method is Method.PUSH_CREATE:
            return await self._create(caller, given, dialect)
        name, place = names_in(given, dialect)
        task = (await self._tasks.found(caller, {"id": name})).id
        if method is Method.PUSH_DELETE:
            await self._context.store.pushes.drop_push(task, place)
            return None if dialect is Dialect.OLD else {}
        rows = [shown_place(task, self._opened(one), dialect) for one in await self._kept(task, place)]
        if method is Method.PUSH_LIST:
            return rows if dialect is Dialect.OLD else {"configs": rows, "nextPageToken": ""}
        if not rows:
            raise A2aError(Code.TASK_NOT_FOUND, NO_PLACE)
        return rows[0]

    async def _create(self, caller: Caller, given: Shown, dialect: Dialect) -> Shown:
        place = asked_place(given, dialect)
        found = await self._tasks.found(caller, {"id": given.get("taskId")})
        if found.state.is_over:
            raise A2aError(Code.UNSUPPORTED_OPERATION, TASK_OVER)
        must_outlast(caller)
        await self._look_at(caller, place)
        await self.keep(caller, found.id, place, dialect)
        return shown_place(found.id, place, dialect)

    async def _look_at(self, caller: Caller, place: PushPlace) -> None:
        """The guard of the way out is asked now, and again with each notification. Errors: A2aError."""
        may_be_told(caller.identity)
        try:
            await self._way.egress.admitted("POST", place.url, tool=PUSH_TOOL)
        except Refused as error:
            raise A2aError(Code.INVALID_PARAMS, NOT_TOLD.format(why=error)) from error

    async def _kept(self, task: SignalId, place: str) -> list[Push]:
        return [one for one in await self._context.store.pushes.pushes_of(task) if place in ("", one.name)]

    def _opened(self, push: Push) -> PushPlace:
        try:
            return PushPlace.of_text(self._way.sealer().open(push.sealed, push.about))
        except Unsealable as error:
            raise A2aError(Code.TASK_NOT_FOUND, NO_PLACE) from error


def must_outlast(caller: Caller) -> None:
    """Errors: A2aError for somebody whom a provider vouches for: nobody asks it about them once their program is silent."""
    if is_vouched(caller.identity):
        raise A2aError(Code.UNSUPPORTED_OPERATION, NEVER_TOLD)
