"""The operators' API: JSON in, JSON out, each route one operation."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter
from typing import Any, Final

from aiohttp import web

from bot.http.entrance import Entrance
from bot.operator.api import OPERATIONS, ROOT, EventId, Form, Operation, Position, Word
from bot.operator.context import OperatorContext
from runtime.domain.copies.copy import COPY_MAX_BYTES
from runtime.http.bodies import BODY_LIMIT, event_id, read_object
from runtime.http.errors import Refusal
from runtime.http.guard import shows_bearer
from runtime.text.glyphs import visible
from runtime.text.retold import retold
from runtime.text.words import ENGLISH, LANGUAGE, marked

MOST_ROWS: Final = 500
LARGE_BODIES: Final[Mapping[str, int]] = {"import_conversation": COPY_MAX_BYTES}
"""Operations whose bodies are larger than others."""
LARGE_ANSWERS: Final = frozenset({"copy_conversation"})
"""Operations whose answers are larger than others: nothing else waits while one is written."""
POSITION_MAX_DIGITS: Final = 18
SENTENCES: Final = ("told", "error")
"""Names under which an answer holds a sentence for whoever asked."""

WANTED: Final = {
    "name": marked("a name"),
    "new": marked("a name"),
    "into": marked("the name of the other person"),
    "role": marked("a role"),
    "code": marked("the pairing code"),
}
"""What a field of a form holds, as people call it."""


def operator_routes(context: OperatorContext, entrance: Entrance) -> list[web.RouteDef]:
    """A route for each operation that is declared."""
    return [_route(operation, context, entrance) for operation in OPERATIONS.values()]


def _route(operation: Operation, context: OperatorContext, entrance: Entrance) -> web.RouteDef:
    async def serve(request: web.Request) -> web.StreamResponse:
        if shows_bearer(request):
            LANGUAGE.set(ENGLISH)  # it is the command line, or another program
        actor = await entrance.actor(request)
        from bot.operator.operations import Operations  # with the first call

        do = Operations(context, actor)
        values = await values_of(operation, request, request.match_info["id"] if operation.subject else "")
        answer = _said(await getattr(do, operation.name)(*values))
        if operation.name not in LARGE_ANSWERS:
            return web.json_response(answer)
        return web.Response(body=await asyncio.to_thread(_in_pieces, answer), content_type="application/json")

    path = ROOT + operation.path
    return web.get(path, serve, allow_head=False) if operation.method == "GET" else web.post(path, serve)


def _in_pieces(answer: Any) -> bytes:
    """JSON, for a thread: whole values at once would be one call, in which no other thread gets its turn."""
    return "".join(json.JSONEncoder().iterencode(answer)).encode()


def _said(answer: Any) -> Any:
    """The answer with its sentences in the language of the page that asked; programs get the English ones."""
    if not LANGUAGE.get() or not isinstance(answer, dict):
        return answer
    said: dict[str, Any] = {name: retold(answer[name]) for name in SENTENCES if isinstance(answer.get(name), str)}
    faults = answer.get("faults")
    if isinstance(faults, dict):
        said["faults"] = {field: retold(words) for field, words in faults.items()}
    return {**answer, **said}


async def values_of(operation: Operation, request: web.Request, subject_id: str, most: int = 0) -> list[Any]:
    """Values of the parameters of `operation` in this request; with `most` as many rows. Errors: Refusal 400, 413."""
    given: Mapping[str, Any] = request.query
    if operation.method == "POST" and operation.fields:
        given = await read_object(request, LARGE_BODIES.get(operation.name, BODY_LIMIT))
    subject = [subject_id] if operation.subject else []
    wanted = (
        most if most and field.name == "limit" else READERS[field.annotation](given, field)
        for field in operation.fields
    )
    return [*subject, *wanted]


def _raw(given: Mapping[str, Any], field: Parameter) -> str:
    value = given.get(field.name, "" if field.default is field.empty else field.default)
    if not isinstance(value, str):
        raise Refusal(400, marked("`{name}` must be text.").format(name=field.name))
    return value


def _form(given: Mapping[str, Any], field: Parameter) -> Mapping[str, Any]:
    """A form on a page says "yes" or "no" where JSON has switches."""
    said = {"yes": True, "no": False}
    return {**given, **({"quiet": said[given["quiet"]]} if given.get("quiet") in ("yes", "no") else {})}


def _texts(given: Mapping[str, Any], field: Parameter) -> list[str]:
    value = given.get(field.name, [])
    if not (isinstance(value, list) and all(isinstance(one, str) for one in value)):
        raise Refusal(400, marked("`{name}` must be a list of strings.").format(name=field.name))
    return value


def _object(given: Mapping[str, Any], field: Parameter) -> dict[str, Any]:
    value = given.get(field.name, {})
    if not isinstance(value, dict):
        raise Refusal(400, marked("`{name}` must be an object.").format(name=field.name))
    return value


def _number(given: Mapping[str, Any], field: Parameter) -> int:
    text = given.get(field.name, str(field.default))
    if not (text.isascii() and text.isdecimal() and 0 < len(text) <= 6 and int(text)):
        raise Refusal(400, marked("`{name}` must be a number above 0.").format(name=field.name))
    return min(int(text), MOST_ROWS)


def _position(given: Mapping[str, Any], field: Parameter) -> int:
    text = str(given.get(field.name, field.default))
    if not (text.isascii() and text.isdecimal() and len(text) <= POSITION_MAX_DIGITS):
        raise Refusal(400, marked("`{name}` must be the number of an event, or 0.").format(name=field.name))
    return int(text)


def _word(given: Mapping[str, Any], field: Parameter) -> str:
    value = given.get(field.name, field.default)
    if not isinstance(value, str):
        raise Refusal(400, marked("Write {what}.").format(what=WANTED.get(field.name, field.name)))
    if not value.isprintable():
        shown = visible(value, one_line=True)
        raise Refusal(
            400,
            marked(
                '"{shown}": it must not contain invisible characters or line breaks. Type it again without them.'
            ).format(shown=shown),
        )
    return value


READERS: Final[Mapping[object, Callable[[Mapping[str, Any], Parameter], Any]]] = {
    str: _raw,
    int: _number,
    Word: _word,
    Position: _position,
    EventId: lambda given, _: event_id(given),
    Form: _form,
    Sequence[str]: _texts,
    Mapping[str, Any]: _object,
}
"""How each kind of parameter is read, from a query or a body."""
