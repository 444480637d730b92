"""Part of the operators' API, done on the store for one actor."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from enum import StrEnum
from functools import wraps
from typing import Any, TypeVar

from bot.accounts.naming import Named
from bot.operator.actor import Actor
from bot.operator.api import OPERATIONS, Operation, OperatorApi
from bot.operator.context import OperatorContext
from bot.operator.lookups import titles
from bot.operator.views import View
from runtime.contract import Address, Body, Clicked, Role, Signal
from runtime.http.errors import Refusal
from runtime.text.words import marked
from runtime.timeline.trail import Thing

Word = TypeVar("Word", bound=StrEnum)
Api = TypeVar("Api", bound="PartialApi")


def by_role(api: type[Api]) -> type[Api]:
    """Each operation that `api` does first asks for the role that its declaration names."""
    for name in OPERATIONS.keys() & vars(api).keys():
        setattr(api, name, _asking(OPERATIONS[name], vars(api)[name]))
    return api


def _asking(operation: Operation, work: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    @wraps(work)
    async def ask(do: PartialApi, *given: Any, **named: Any) -> Any:
        do.actor.must_be(operation.role)
        return await work(do, *given, **named)

    return ask


class PartialApi(OperatorApi):
    """Operations of one noun. Those of others aren't here: `bot.operator.operations` finds them."""

    def __init__(self, context: OperatorContext, actor: Actor) -> None:
        self._context = context
        self._store = context.store
        self.actor = actor

    @property
    def _names(self) -> tuple[Named, Named]:
        return self._context.named, self._context.called

    async def _entitled(self, rows: Sequence[View]) -> list[View]:
        return await titles.entitled(self._context, rows, self.actor.identity)

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


def word_of(kind: type[Word], text: str) -> Word | None:
    """A word of a closed set; None for no word. Errors: Refusal lists the set."""
    if not text:
        return None
    try:
        return kind(text)
    except ValueError:
        raise Refusal(
            400, marked('"{text}" isn\'t one of: {words}.').format(text=text, words=", ".join(kind))
        ) from None


def role_of(text: str) -> Role:
    try:
        return Role[text.upper()]
    except KeyError:
        raise Refusal(
            400,
            marked('"{text}" is not a role. Roles are {roles}.').format(
                text=text, roles=", ".join(role.word for role in Role)
            ),
        ) from None
