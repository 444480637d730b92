"""Tools that the MCP server offers: each is declared once, with its form, and who may call it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from pydantic import BaseModel

from bot.doors.callers import Caller
from bot.doors.table import checked
from runtime.contract import Role
from runtime.http.errors import Refusal

NO_TOOL: Final = "There is no tool {name!r} for this token. There are: {names}."
View = dict[str, Any]
Form = TypeVar("Form", bound=BaseModel)
Tell = Callable[[str], Awaitable[None]]
"""Shows whoever called how far it is, in words."""


@dataclass(frozen=True, slots=True)
class Told:
    """Result of a call: words for a reader, and the same as data."""

    words: str
    data: View


@dataclass(frozen=True, slots=True)
class Call:
    """A call by a program that was let in."""

    caller: Caller
    tell: Tell


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A tool. `reads` says that it changes nothing."""

    name: str
    words: str
    form: type[BaseModel]
    serve: Callable[[Call, Any], Awaitable[Told]]
    role: Role = Role.USER
    reads: bool = True
    is_open: Callable[[], bool] = lambda: True

    @property
    def schema(self) -> View:
        made = self.form.model_json_schema()
        return {name: value for name, value in made.items() if name not in ("title", "description")}


class Offers:
    """All tools, and those that a token has."""

    def __init__(self, offers: Sequence[Offer]) -> None:
        self._offers = {one.name: one for one in offers}

    def of(self, caller: Caller) -> list[Offer]:
        return [one for one in self._offers.values() if caller.role >= one.role and one.is_open()]

    async def call(self, call: Call, name: str, arguments: Mapping[str, Any]) -> Told:
        """Errors: Refusal, whose sentence is for the model that called."""
        mine = {one.name: one for one in self.of(call.caller)}
        if name not in mine:
            raise Refusal(404, NO_TOOL.format(name=name[:64], names=", ".join(mine)))
        offer = mine[name]
        return await offer.serve(call, checked(offer.form, arguments))
