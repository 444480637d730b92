"""The OpenAPI 3.1 document, made of the table of doors and of their forms."""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus
from typing import Any, Final

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from bot.doors.forms import Problem
from bot.doors.table import PATH_PIECE, Door
from bot.node.version import VERSION
from runtime.http.answers import PROGRAMS

STREAMING_DOORS: Final = frozenset({"message_events", "run_stream_events"})
"""Doors that answer with server-sent events."""
SCHEMA_PLACE: Final = "#/components/schemas/{model}"
USUAL_PROBLEMS: Final = (401, 403, 429, 503)
ABOUT: Final = (
    "Programs talk to Signalbox's agents as people do: what they say is stored before it is answered, and a repeat with the "
    "same Idempotency-Key is the same message. Each request carries a token: `signalbox tokens make`."
)
KEY_HEADER: Final = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "The same for each try of one request; a new one for each request.",
    "schema": {"type": "string", "pattern": "^[!-~]{1,128}$"},
}
UPLOAD_BODY: Final = {
    "required": True,
    "content": {
        "multipart/form-data": {
            "schema": {
                "type": "object",
                "required": ["file"],
                "properties": {"file": {"type": "string", "format": "binary"}},
            }
        }
    },
}
KEYED: Final = frozenset({"say", "stop", "signal"})


def document_of(doors: Sequence[Door]) -> dict[str, Any]:
    """The document of these doors, without those whose form others define."""
    doors = [door for door in doors if door.path.startswith(PROGRAMS)]
    models: set[type[BaseModel]] = {Problem, *(one for door in doors for one in (door.body, door.answer) if one)}
    ordered = sorted(models, key=lambda model: model.__name__)
    _, defined = models_json_schema([(model, "validation") for model in ordered], ref_template=SCHEMA_PLACE)
    paths: dict[str, dict[str, Any]] = {}
    for door in doors:
        paths.setdefault(door.path.replace("+}", "}"), {})[door.method.lower()] = _operation(door)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Signalbox", "version": VERSION, "description": ABOUT},
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "schemas": defined["$defs"],
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(door: Door) -> dict[str, Any]:
    told: dict[str, Any] = {
        "operationId": door.name,
        "summary": door.summary,
        "tags": [door.group],
        "x-role": door.role.word,
        "parameters": _parameters(door),
        "responses": {str(door.status): _answer(door), **_problems(door)},
    }
    if door.status != HTTPStatus.OK:
        told["responses"]["200"] = _answer(door)
    if door.name == "upload":
        told["requestBody"] = UPLOAD_BODY
    if door.body is not None:
        told["requestBody"] = {"required": True, "content": {"application/json": {"schema": _ref(door.body)}}}
    return told


def _parameters(door: Door) -> list[dict[str, Any]]:
    pieces = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}
        for name, _ in PATH_PIECE.findall(door.path)
    ]
    query = [
        {"name": name, "in": "query", "required": one.required, "description": one.words, "schema": one.schema}
        for name, one in door.query.items()
    ]
    return [*pieces, *query, *([KEY_HEADER] if door.name in KEYED else [])]


def _answer(door: Door) -> dict[str, Any]:
    if door.name == "file":
        return {"description": door.summary, "content": {"application/octet-stream": {}}}
    if door.name in STREAMING_DOORS:
        return {"description": door.summary, "content": {"text/event-stream": {}}}
    one: dict[str, Any] = {**_ref(door.answer)} if door.answer else {"type": "object"}
    if door.several:
        one = {
            "type": "object",
            "required": ["data", "next"],
            "properties": {"data": {"type": "array", "items": one}, "next": {"type": ["string", "null"]}},
        }
    return {"description": door.summary, "content": {"application/json": {"schema": one}}}


def _problems(door: Door) -> dict[str, Any]:
    usual = {*USUAL_PROBLEMS, *door.statuses, *([400, 413, 415, 422] if door.body else [])}
    usual |= {400, 404, 409, 422} if door.role.word == "operator" else {404, 422}
    content = {"application/problem+json": {"schema": _ref(Problem)}}
    return {str(one): {"description": HTTPStatus(one).phrase, "content": content} for one in sorted(usual)}


def _ref(model: type[BaseModel]) -> dict[str, str]:
    return {"$ref": SCHEMA_PLACE.format(model=model.__name__)}
