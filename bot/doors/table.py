"""Table of doors: each route once, with its role and its forms; and how a request finds its own."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar
from urllib.parse import unquote

from aiohttp import web
from pydantic import BaseModel, ValidationError

from bot.doors.callers import Caller
from runtime.contract import Role
from runtime.http.answers import SENTENCES
from runtime.http.bodies import BODY_LIMIT, read_object
from runtime.http.errors import Refusal

JSON_NEEDED: Final = "Send the body as JSON, with Content-Type: application/json."
Form = TypeVar("Form", bound=BaseModel)
PATH_PIECE: Final = re.compile(r"{(\w+)(\+?)}")
"""A piece of a path; one with a plus may hold slashes."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A request at a door, by whom, and the pieces of its path."""

    request: web.Request
    caller: Caller
    pieces: Mapping[str, str]

    async def body(self, form: type[Form], limit: int = BODY_LIMIT) -> Form:
        """The body as `form`. Errors: Refusal 413, 415, 400 for no JSON object, 422 for a wrong one."""
        if self.request.content_type != "application/json":
            raise Refusal(415, JSON_NEEDED)
        return checked(form, await read_object(self.request, limit))


def checked(form: type[Form], given: Mapping[str, Any]) -> Form:
    """`given` as a form. Errors: Refusal 422 with each fault."""
    try:
        return form.model_validate(given)
    except ValidationError as error:
        faults = (f"{'.'.join(map(str, one['loc'])) or 'body'}: {one['msg']}" for one in error.errors()[:5])
        raise Refusal(422, "; ".join(faults)) from None


Serve = Callable[[Asked], Awaitable[web.StreamResponse]]


@dataclass(frozen=True, slots=True)
class Query:
    """A parameter of a query: a text, or a number from `least` to `most`."""

    words: str
    least: int = 0
    most: int = 0
    required: bool = False

    @property
    def schema(self) -> dict[str, object]:
        if self.most:
            return {"type": "integer", "minimum": self.least, "maximum": self.most}
        return {"type": "string", **({"minLength": 1} if self.required else {})}


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """A route; `answer` is a form, or a list of them with `several`."""

    method: str
    path: str
    name: str
    summary: str
    serve: Serve
    role: Role = Role.USER
    group: str = "Conversations"
    body: type[BaseModel] | None = None
    answer: type[BaseModel] | None = None
    several: bool = False
    status: int = 200
    query: Mapping[str, Query] = field(default_factory=dict)
    statuses: Sequence[int] = ()

    @property
    def pattern(self) -> re.Pattern[str]:
        return re.compile(PATH_PIECE.sub(lambda one: f"(?P<{one[1]}>{'.' if one[2] else '[^/]'}+)", self.path))


class DoorTable:
    """Finds the door of a request."""

    def __init__(self, doors: Sequence[Door]) -> None:
        self.doors = doors
        self._patterns = [(door.pattern, door) for door in doors]

    def found(self, request: web.Request) -> tuple[Door, Mapping[str, str]]:
        """Errors: Refusal 404, or 405 with the methods there are."""
        here = [
            (door, match) for pattern, door in self._patterns if (match := pattern.fullmatch(request.rel_url.raw_path))
        ]
        if not here:
            raise Refusal(404, SENTENCES[404])
        for door, match in here:
            if door.method == request.method:
                return door, {name: unquote(value) for name, value in match.groupdict().items()}
        raise Refusal(405, SENTENCES[405], Allow=", ".join(sorted({door.method for door, _ in here})))
