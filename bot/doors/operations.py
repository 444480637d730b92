"""Operations of operators as REST doors: each is declared once, in `bot/operator/api.py`, and offered here to tokens."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from aiohttp import web
from pydantic import BaseModel, create_model

from adapters.web.adapter import CHANNEL
from bot.doors.callers import Caller
from bot.doors.rooms import ProgramRooms
from bot.doors.summaries import SUMMARIES
from bot.doors.table import JSON_NEEDED, Asked, Door, Query
from bot.http.operator_api import values_of
from bot.operator.api import OPERATIONS, Form, Operation
from bot.operator.context import OperatorContext
from bot.operator.operations import DONE_BY, Operations
from bot.operator.views import View
from runtime.contract import Address, ApprovalKind
from runtime.domain.ids import digest
from runtime.http.errors import Refusal

GROUPS: Final[Mapping[str, Sequence[str]]] = {
    "Runs": ("runs", "run", "stop_run", "run_again", "traceable", "trace"),
    "Conversations as files": ("copy_conversation", "import_conversation"),
    "Approvals": ("approvals", "approval", "decide", "edit", "always", "ask_back", "grants", "grant", "revoke"),
    "Deliveries": ("deliveries", "delivery", "requeue", "discard"),
    "Schedules": (
        *("schedules", "add_schedule", "schedule", "change_schedule", "schedule_history", "pause_schedule"),
        *("resume_schedule", "remove_schedule", "run_schedule"),
        *("preview_schedule", "preview_report", "destinations"),
    ),
    "Tasks": ("tasks", "task", "drop_task", "retry_task", "handed_on", "child", "stop_child"),
    "Workflows": (
        *("workflows", "workflow", "start_workflow", "workflow_runs", "workflow_run", "cancel_workflow"),
        "resume_workflow",
    ),
    "Memory": ("memories", "memory_counts", "put_memory", "memory", "accept_memory", "delete_memory"),
    "Knowledge": ("knowledge", "search_knowledge", "knowledge_documents"),
    "Models and usage": ("models", "model", "cooldowns", "clear_cooldown", "budgets", "overview"),
    "Triggers and processes": ("triggers", "resume_trigger", "end_trigger", "processes", "stop_process"),
    "Events": ("events", "run_events", "event_sinks", "checkpoints"),
    "Audit": ("audit", "verify_audit"),
}
"""Operations that tokens of operators have, by the groups of the document. People, links and settings stay with people."""
SHOWN_BY: Final[Mapping[str, str]] = {
    **dict.fromkeys(("decide", "edit", "always", "ask_back"), "approval"),
    **dict.fromkeys(("requeue", "discard"), "delivery"),
    **dict.fromkeys(("drop_task", "retry_task"), "task"),
    "stop_child": "child",
    **dict.fromkeys(("stop_run", "run_again"), "run"),
    **dict.fromkeys(("change_schedule", "pause_schedule", "resume_schedule", "remove_schedule"), "schedule"),
}
"""Operation that shows what another one changes: for its ETag, and for the rooms of a narrow token."""
APPROVING: Final = frozenset({"decide", "edit", "always"})
OWN_CALL: Final = "A program can't decide about calls that it asked for itself. Somebody else has to."
ROOMED: Final = frozenset(
    {
        *("runs", "run", "stop_run", "approvals", "approval", "decide", "edit", "always", "ask_back"),
        *("deliveries", "delivery", "requeue", "discard", "tasks", "task", "drop_task", "retry_task"),
        *("handed_on", "child", "stop_child"),
    }
)
"""Operations whose rows tell their room: all that a token for some rooms or agents has."""
PLACELESS: Final = frozenset({"models", "model"})
"""Operations that tell nothing of any room."""
NARROW: Final = "This token is for some rooms or agents only, and this tells of others too."
NOTHING_THERE: Final = "There is nothing of this id for this token."
CHANGED_MEANWHILE: Final = "This has changed since you looked at it (If-Match). Get it again."
PAGE_ROWS: Final = 50
PAGE_ROWS_MAX: Final = 500
LOOKED_THROUGH_ROWS: Final = (500, 5_000, 50_000)
"""Newest rows among which a page is looked for: most are in the first ones. A narrow token, which may see few of them and so
would often look through all, goes without the last step."""
BAD_LIMIT: Final = f"`limit` is a number from 1 to {PAGE_ROWS_MAX}."
BAD_CURSOR: Final = "This cursor is not one of ours, or too old. Begin without one."
LIST_QUERY: Final = {
    "limit": Query(f"Rows of a page, at most {PAGE_ROWS_MAX}.", least=1, most=PAGE_ROWS_MAX),
    "cursor": Query("The `next` of the page before."),
}


FIELD_KINDS: Final[Mapping[object, Any]] = {Sequence[str]: list[str], Mapping[str, Any]: dict[str, Any]}
"""Kinds of parameters in the document; all others are texts."""


def operation_doors(context: OperatorContext, rooms: ProgramRooms) -> list[Door]:
    """A door for each operation of `GROUPS`."""
    return [_door(OPERATIONS[name], group, context, rooms) for group, names in GROUPS.items() for name in names]


def _door(operation: Operation, group: str, context: OperatorContext, rooms: ProgramRooms) -> Door:
    done = OperationDoor(operation, context, rooms)
    told = inspect.getdoc(getattr(DONE_BY[operation.name], operation.name)) or ""
    words = SUMMARIES.get(operation.name) or told.partition("\n")[0]
    return Door(
        method=operation.method,
        path=f"/api/v1{operation.path}",
        name=operation.name,
        summary=words,
        serve=done.serve,
        role=operation.role,
        group=group,
        body=_form_of(operation) if operation.method == "POST" and operation.fields else None,
        several=done.lists,
        query=_query_of(operation, paged=done.lists) if operation.method == "GET" else {},
        statuses=(404, 409, 412) if operation.subject else (),
    )


def _query_of(operation: Operation, *, paged: bool) -> dict[str, Query]:
    given = {
        field.name: Query(field.name.replace("_", " ").capitalize() + ".", required=field.default is field.empty)
        for field in operation.fields
        if field.name != "limit"
    }
    return {**given, **(LIST_QUERY if paged else {})}


def _form_of(operation: Operation) -> type[BaseModel]:
    """The form of a body, of the operation's own parameters; any object where the whole body is one of them."""
    fields: dict[str, Any] = {}
    for field in operation.fields:
        if field.annotation == Form:
            continue
        kind = FIELD_KINDS.get(field.annotation, str)
        fields[field.name] = (kind, ... if field.default is field.empty else field.default)
    return create_model(f"{operation.name.title().replace('_', '')}Body", **fields)


class OperationDoor:
    """One operation, for tokens: narrowed to their rooms, with pages and ETags."""

    def __init__(self, operation: Operation, context: OperatorContext, rooms: ProgramRooms) -> None:
        self._operation = operation
        self._context = context
        self._rooms = rooms
        done = getattr(DONE_BY[operation.name], operation.name)
        self.lists = str(inspect.signature(done).return_annotation).startswith("list")

    async def serve(self, asked: Asked) -> web.Response:
        operation, caller, request = self._operation, asked.caller, asked.request
        self._let_in(caller)
        if operation.method == "POST" and operation.fields and request.content_type != "application/json":
            raise Refusal(415, JSON_NEEDED)
        if self.lists:
            return web.json_response(await self.page(asked, *_page_of(request)))
        values = await values_of(operation, request, asked.pieces.get("id", ""), 0)
        answer = await self.called(caller, values, request.headers.get("If-Match"))
        return _tagged(request, answer) if operation.method == "GET" else web.json_response(answer)

    async def called(self, caller: Caller, values: Sequence[Any], wanted: str | None = None) -> Any:
        """The operation with `values`, as this token may have it: a view, or a list of those that it may see.

        Errors: Refusal 403, 404 for what the token may not see, 412 where `wanted` is an ETag of the past.
        """
        operation = self._operation
        self._let_in(caller)
        do = Operations(self._context, caller.actor)
        given = await self._in_its_rooms([*values], caller)
        if operation.method == "POST" and (shown := SHOWN_BY.get(operation.name)):
            given[0] = await self._seen(do, shown, given[0], caller, wanted)
            answer = await getattr(do, operation.name)(*given)
        else:
            answer = await _looked(do, operation.name, given, is_narrow=_is_narrow(caller))
        if self.lists:
            return [row for row in answer if await self._may_see(caller, row)]
        if operation.method == "GET" and not await self._may_see(caller, answer):
            raise Refusal(404, NOTHING_THERE)
        return answer

    def _let_in(self, caller: Caller) -> None:
        if _is_narrow(caller) and self._operation.name not in ROOMED | PLACELESS:
            raise Refusal(403, NARROW)

    async def page(self, asked: Asked, limit: int, cursor: str) -> View:
        """A page, which is looked for among ever more of the newest rows. Errors: Refusal 422 for a strange cursor."""
        is_narrow = _is_narrow(asked.caller)
        for most in LOOKED_THROUGH_ROWS[: 2 if is_narrow else None]:
            values = await values_of(self._operation, asked.request, asked.pieces.get("id", ""), most)
            rows = await self.called(asked.caller, values, asked.request.headers.get("If-Match"))
            page = _paged(rows, limit, cursor)
            if (page and page["next"]) or (len(rows) < most and not is_narrow):
                break
        if page is None:
            raise Refusal(422, BAD_CURSOR)
        return page

    async def _in_its_rooms(self, values: list[Any], caller: Caller) -> list[Any]:
        """With the room that a list is narrowed to as doors of rooms take it. Errors: Refusal 403, for what isn't there too."""
        names = [field.name for field in self._operation.fields]
        if not caller.token.rooms or "room" not in names:
            return values
        at = names.index("room") + bool(self._operation.subject)
        room = values[at] and self._context.named(await self._rooms.meant(caller, values[at]))
        return [*values[:at], room, *values[at + 1 :]]

    async def _seen(self, do: Operations, shown: str, name: str, caller: Caller, wanted: str | None) -> str:
        """The id of what `name` means.

        Errors: Refusal 404 for what a narrow token may not see; 412 for what has another ETag by now; 403 for a program's
        own call.
        """
        is_narrow = _is_narrow(caller)
        if not (wanted or is_narrow or self._operation.name in APPROVING):
            return name
        row = await _looked(do, shown, [name], is_narrow=is_narrow)
        if not await self._may_see(caller, row):
            raise Refusal(404, NOTHING_THERE)
        if wanted and wanted not in ("*", etag_of(row)):
            raise Refusal(412, CHANGED_MEANWHILE)
        is_call = self._operation.name in APPROVING and row["kind"] == ApprovalKind.CALL
        if is_call and not caller.at_page and caller.person.name == row["requester"]:
            raise Refusal(403, OWN_CALL)
        return str(row.get("id") or name)

    async def _may_see(self, caller: Caller, row: View) -> bool:
        token = caller.token
        if not (token.rooms or token.agents) or self._operation.name in PLACELESS:
            return True
        if token.agents and row.get("agent") not in token.agents:
            return False
        if not token.rooms:
            return True
        words = row.get("address") or ""
        return bool(words) and await self._rooms.may_read(caller, self._address(words))

    def _address(self, words: str) -> Address:
        """An address that a row writes, as the store has it where it is one of the page."""
        address = Address.parse(words)
        return replace(address, account=self._context.web_account) if address.channel == CHANNEL else address


def _is_narrow(caller: Caller) -> bool:
    """True for a token of some rooms or agents only."""
    return bool(caller.token.rooms or caller.token.agents)


async def _looked(do: Operations, shown: str, values: Sequence[Any], *, is_narrow: bool) -> Any:
    """Look. Words about what isn't there, or may be meant, tell of other rooms: a narrow token gets the same for all."""
    try:
        return await getattr(do, shown)(*values)
    except Refusal as refusal:
        if is_narrow and refusal.status in (404, 409):
            raise Refusal(404, NOTHING_THERE) from None
        raise


def _page_of(request: web.Request) -> tuple[int, str]:
    text = request.query.get("limit", str(PAGE_ROWS))
    if not (text.isascii() and text.isdecimal() and len(text) <= 4 and 1 <= int(text) <= PAGE_ROWS_MAX):
        raise Refusal(422, BAD_LIMIT)
    return int(text), request.query.get("cursor", "")


def _paged(rows: Sequence[View], limit: int, cursor: str) -> View | None:
    """A page of `rows`, behind the row that the cursor names; None where that isn't among them."""
    names = [_name_of(row) for row in rows]
    if cursor and cursor not in names:
        return None
    begin = names.index(cursor) + 1 if cursor else 0
    page = rows[begin : begin + limit]
    more = begin + limit < len(rows)
    return {"data": list(page), "next": names[begin + limit - 1] if more else None}


def _name_of(row: View) -> str:
    """Name of a row for cursors: its id where it has one, else made of what it says."""
    return str(row.get("id") or row.get("name") or row.get("number") or digest(repr(sorted(row.items(), key=str)))[:16])


def etag_of(row: View) -> str:
    return f'"{digest(repr(sorted(row.items(), key=str)))[:20]}"'


def _tagged(request: web.Request, row: View) -> web.Response:
    tag = etag_of(row)
    if request.headers.get("If-None-Match") == tag:
        return web.Response(status=304, headers={"ETag": tag})
    return web.json_response(row, headers={"ETag": tag})
