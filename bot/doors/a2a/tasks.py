"""Tasks of peers: what a peer says becomes a message of its program, and the task is how that stands."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from contextlib import aclosing
from datetime import timedelta
from typing import Final

from bot.doors.a2a.wire import A2aError, Code, Meant, SentFile, Shown, ids_in, key_of_context, key_of_message, meant_by
from bot.doors.callers import Caller
from bot.doors.conversing import Conversing, Wanted
from bot.doors.rooms import OWN_ROOM
from bot.operator.context import OperatorContext
from runtime.contract import INBOX, FileRef, SignalId
from runtime.contract.media.filenames import clean_name
from runtime.domain.ids import digest
from runtime.domain.programs.followed import Followed
from runtime.http.errors import Refusal

CONTEXT_ID_CHARS: Final = 32
STOPPED_WITHIN: Final = timedelta(seconds=5)
TASKS_LISTED_MOST: Final = 100
TASKS_A_PAGE: Final = 50
TASK_ID_MAX_CHARS: Final = 64
SENT_FILE_DIGEST_CHARS: Final = 10
GOES_ON_ALONE: Final = (
    "This task asks nothing that you could answer: it goes on by itself once people decided, and a new message of the same "
    "`contextId` is a task of its own."
)
TASK_OVER: Final = "This task is over already. A new message of the same `contextId` is a task of its own."
OTHER_CONTEXT: Final = "This task belongs to another `contextId`."
NO_TASK: Final = "There is no such task for this token."
BAD_PAGE: Final = "`pageSize` is a number from 1 to 100, and `pageToken` the `nextPageToken` of a page before."


class A2aTasks:
    def __init__(self, context: OperatorContext, conversing: Conversing) -> None:
        self._context = context
        self._conversing = conversing

    async def send(self, caller: Caller, given: Shown, agent: str) -> SignalId:
        """Take a message in; the same `messageId` again is the same task. Errors: A2aError, Refusal."""
        meant = meant_by(given.get("message"))
        if meant.task:
            return await self._answered(caller, meant)
        # One that names no conversation begins one, which is the same for each try of its message.
        context = meant.context or digest(f"{caller.identity} {meant.id}")[:CONTEXT_ID_CHARS]
        words = context if OWN_ROOM.fullmatch(context) else digest(context)[:CONTEXT_ID_CHARS]
        room = f"a2a-{words}"[:100]
        files = await self._taken(caller, room, meant.files) if meant.files else ()
        same = json.dumps([meant.text, [file.path for file in files]]) if files else ""
        key = key_of_message(context, meant.id)
        wanted = Wanted(room=room, text=meant.text, key=key, agent=agent, files=files, same=same)
        return (await self._conversing.say(caller, wanted)).id

    async def _answered(self, caller: Caller, meant: Meant) -> SignalId:
        """Answer what a task asks of this program; other words in its middle are refused. Errors: A2aError."""
        found = await self.found(caller, {"id": meant.task})
        context, _ = ids_in(found.body) or ("", "")
        if meant.context not in ("", context):
            raise A2aError(Code.INVALID_PARAMS, OTHER_CONTEXT)
        key = key_of_message(context, f"{meant.task} {meant.id}")
        if await self._context.store.programs.id_by_key(caller.identity, key):
            return found.id  # it was answered with this message before
        if found.state.is_over:
            raise A2aError(Code.UNSUPPORTED_OPERATION, TASK_OVER)
        asked = next((one for one in found.questions if one.text), None)
        if asked is None or meant.files:
            raise A2aError(Code.UNSUPPORTED_OPERATION, GOES_ON_ALONE)
        if objection := await self._conversing.answer(caller, found, asked, meant.text, key):
            raise A2aError(Code.UNSUPPORTED_OPERATION, objection)
        return found.id

    async def _taken(self, caller: Caller, room: str, files: Sequence[SentFile]) -> tuple[FileRef, ...]:
        """Files in the room's workspace, at paths that are made of what they are: a repeat writes the same ones."""
        address, made = await self._conversing.place(caller, room), []
        for file in files:
            name, size = clean_name(file.name), len(file.data)
            path = f"{INBOX}/{digest(file.data.hex())[:SENT_FILE_DIGEST_CHARS]}/{name}"
            async with self._context.files().counting(address, path, size, caller.person.id):
                await asyncio.to_thread(self._context.keep, address, path, file.data)
            made.append(FileRef(name, path, size))
        return tuple(made)

    async def found(self, caller: Caller, given: Shown) -> Followed:
        """Errors: A2aError for a task that isn't there, or is not this program's."""
        name = given.get("id")
        if not isinstance(name, str):
            raise A2aError(Code.INVALID_PARAMS, NO_TASK)
        try:
            found = await self._conversing.look(caller, name)
        except Refusal:
            raise A2aError(Code.TASK_NOT_FOUND, NO_TASK) from None
        if found.platform != caller.identity or ids_in(found.body) is None:
            raise A2aError(Code.TASK_NOT_FOUND, NO_TASK)
        return found

    async def cancelled(self, caller: Caller, given: Shown) -> Followed:
        """The task, ended. Errors: A2aError where it is over already."""
        found = await self.found(caller, given)
        if found.state.is_over:
            raise A2aError(Code.TASK_NOT_CANCELABLE, TASK_OVER)
        await self._conversing.stop(caller, found.address, f"cancel-{found.id}")
        async with aclosing(self._conversing.follow(caller, found.id, STOPPED_WITHIN)) as changes:
            return [one async for one in changes][-1]

    async def listed(self, caller: Caller, given: Shown) -> tuple[Sequence[Followed], str, int]:
        """A page of the program's tasks, newest first, the token of the next page, and how many there are."""
        size, behind = _page(given)
        context = given.get("contextId")
        key = key_of_context(context if isinstance(context, str) else "")
        programs = self._context.store.programs
        names, total = await programs.keyed_said(caller.identity, key, limit=size + 1, behind=behind)
        rows = [one for name in names[:size] if (one := await programs.followed(name))]
        return rows, names[size - 1] if len(names) > size else "", total


def _page(given: Shown) -> tuple[int, str]:
    """Rows of a page, and the task behind which it begins: a new task moves no page."""
    size, token = given.get("pageSize") or TASKS_A_PAGE, given.get("pageToken") or ""
    if not (isinstance(size, int) and 1 <= size <= TASKS_LISTED_MOST and isinstance(token, str)):
        raise A2aError(Code.INVALID_PARAMS, BAD_PAGE)
    if len(token) > TASK_ID_MAX_CHARS:
        raise A2aError(Code.INVALID_PARAMS, BAD_PAGE)
    return size, token
