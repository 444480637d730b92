"""REST doors of conversations: say, wait, stop, signals, and what a token may do."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from datetime import timedelta
from typing import Final

from aiohttp import web

from bot.doors.conversing import Conversing, TakenIn, Wanted
from bot.doors.forms import (
    KEY_MAX_CHARS,
    PAYLOAD_BYTES_MAX,
    WAIT_SECONDS_MAX,
    Accepted,
    AgentView,
    Attended,
    FileView,
    Me,
    Message,
    NewMessage,
    NewSignal,
    Question,
    Spent,
)
from bot.doors.live.growing import GrowingAnswers
from bot.doors.live.messages import MessageListener
from bot.doors.live.sockets import is_upgrade, over_socket
from bot.doors.rooms import ProgramRooms
from bot.doors.streams import STREAM_LIFE, Streams, begun
from bot.doors.table import Asked, Door, Query
from bot.operator.context import OperatorContext
from runtime.contract import FileRef, Outcome, Role, Trigger, Urgency
from runtime.domain.programs.followed import Followed
from runtime.http.errors import Refusal
from runtime.text.outside import material

KEY_FORM: Final = re.compile(rf"[!-~]{{1,{KEY_MAX_CHARS}}}")
BAD_KEY: Final = f"Idempotency-Key must be 1 to {KEY_MAX_CHARS} visible ASCII characters."
BAD_WAIT: Final = f"`wait` is a number of seconds, at most {WAIT_SECONDS_MAX}."
NO_UPLOAD: Final = "There is no file {path!r} in this room. Upload it first."
NO_PLACE: Final = "A signal needs a place: name a `room`, or a `session`."
PAYLOAD_TOO_LARGE: Final = "`payload` is too large: at most 64 KiB as JSON. Put what is larger into a file."
WAIT_WORDS: Final = f"Seconds to wait for the answer, at most {WAIT_SECONDS_MAX}."


class RestDoors:
    def __init__(
        self,
        context: OperatorContext,
        conversing: Conversing,
        rooms: ProgramRooms,
        growing: GrowingAnswers,
        streams: Streams,
    ) -> None:
        self._context = context
        self._growing = growing
        self._streams = streams
        self._conversing = conversing
        self._rooms = rooms

    def doors(self) -> list[Door]:
        return [*self._talking(), *self._telling()]

    def _talking(self) -> list[Door]:
        return [
            Door(
                method="POST",
                path="/api/v1/rooms/{room}/messages",
                name="say",
                summary="Say something. The header Idempotency-Key makes a repeat the same message.",
                serve=self.say,
                body=NewMessage,
                answer=Accepted,
                status=202,
                statuses=(409, 413, 415, 422),
            ),
            Door(
                method="GET",
                path="/api/v1/messages/{id}",
                name="message",
                summary="A message and its answer, at once or after a wait for it.",
                serve=self.message,
                answer=Message,
                query={"wait": Query(WAIT_WORDS, most=WAIT_SECONDS_MAX)},
                statuses=(404, 422),
            ),
            Door(
                method="GET",
                path="/api/v1/messages/{id}/events",
                name="message_events",
                summary="The message after each change, and its text while it is said, as server-sent events, until it is over.",
                serve=self.events,
                statuses=(404,),
            ),
            Door(
                method="POST",
                path="/api/v1/rooms/{room}/stop",
                name="stop",
                summary="End the work that this token asked for in a room.",
                serve=self.stop,
                answer=Accepted,
                statuses=(409,),
            ),
        ]

    def _telling(self) -> list[Door]:
        return [
            Door(
                method="POST",
                path="/api/v1/signals",
                name="signal",
                summary="Tell of something that happened; the answer says what attention decided.",
                serve=self.signal,
                body=NewSignal,
                answer=Attended,
                status=202,
                statuses=(409, 413, 415, 422),
            ),
            Door(
                method="GET",
                path="/api/v1/me",
                name="me",
                summary="What the caller may do.",
                serve=self.me,
                role=Role.VIEWER,
                answer=Me,
            ),
            Door(
                method="GET",
                path="/api/v1/agents",
                name="agents",
                summary="Agents that this token may ask.",
                serve=self.agents,
                answer=AgentView,
                several=True,
            ),
        ]

    async def say(self, asked: Asked) -> web.Response:
        """Answered 202 once it is stored, and 200 where it was before."""
        new = await asked.body(NewMessage)
        room, key = asked.pieces["room"], key_of(asked, self._context)
        files = await self._named(asked, new.files) if new.files else ()
        same = json.dumps([new.text, new.files]) if files else ""
        wanted = Wanted(room=room, text=new.text, key=key, agent=new.agent, files=files, same=same)
        return _accepted(await self._conversing.say(asked.caller, wanted))

    async def _named(self, asked: Asked, paths: Sequence[str]) -> tuple[FileRef, ...]:
        """Files that a message names. Errors: Refusal 422 for one that isn't there."""
        address = await self._conversing.place(asked.caller, asked.pieces["room"])
        listed = await self._context.files().listed(address)
        there = {one["path"]: one for one in listed["files"]}
        if missing := [path for path in paths if path not in there]:
            raise Refusal(422, NO_UPLOAD.format(path=missing[0][:200]))
        return tuple(FileRef(path.rpartition("/")[2], path, there[path]["size"]) for path in paths)

    async def stop(self, asked: Asked) -> web.Response:
        taken = await self._conversing.stop(asked.caller, asked.pieces["room"], key_of(asked, self._context))
        return web.json_response(_told(taken).model_dump())

    async def message(self, asked: Asked) -> web.Response:
        within, caller, name = wait_of(asked), asked.caller, asked.pieces["id"]
        if not within:
            return web.json_response(self._view(await self._conversing.look(caller, name)).model_dump())
        # A wait holds a connection as a stream does; how many a program has, its calls a minute bound.
        with self._streams.opened(caller) if caller.at_page else nullcontext():
            return web.json_response(self._view(await self._conversing.answered(caller, name, within)).model_dump())

    async def events(self, asked: Asked) -> web.StreamResponse:
        await self._conversing.look(asked.caller, asked.pieces["id"])
        with self._streams.opened(asked.caller):
            if is_upgrade(asked.request):
                return await over_socket(
                    asked.request,
                    self._growing,
                    asked.caller,
                    asked.pieces["id"],
                    lambda found: self._view(found).model_dump(mode="json"),
                )
            response = await begun(asked.request)
            listener = MessageListener(response, lambda found: self._view(found).model_dump_json())
            await self._growing.follow(asked.caller, asked.pieces["id"], listener, STREAM_LIFE)
            return response

    async def signal(self, asked: Asked) -> web.Response:
        new = await asked.body(NewSignal)
        if not (new.room or new.session):
            raise Refusal(422, NO_PLACE)
        agent, mark, address = new.session.partition("|")
        wanted = Wanted(
            room=new.room or (address if mark else new.session),
            text=signal_text(new),
            key=new.dedupe_key or key_of(asked, self._context),
            agent=new.agent or (agent if mark else ""),
            urgency=new.urgency,
            trigger=Trigger.HOOK,
        )
        taken = await self._conversing.say(asked.caller, wanted)
        told = Attended.model_validate(
            {
                "id": taken.id,
                "outcome": taken.outcome.value,
                "attention": attention_of(taken.outcome, new.urgency),
                "notice": taken.notice,
            }
        )
        return web.json_response(told.model_dump(), status=200 if taken.repeated else 202)

    async def me(self, asked: Asked) -> web.Response:
        token = asked.caller.token
        told = Me(
            name=token.name,
            identity=token.identity,
            role=asked.caller.role.word,
            agents=self._conversing.agents(asked.caller),
            rooms=list(token.rooms),
            per_minute=token.per_minute,
            until=token.until.isoformat() if token.until else None,
        )
        return web.json_response(told.model_dump())

    async def agents(self, asked: Asked) -> web.Response:
        names = self._conversing.agents(asked.caller)
        return web.json_response({"data": [AgentView(name=name).model_dump() for name in names], "next": None})

    def _view(self, found: Followed) -> Message:
        return Message(
            id=found.id,
            state=found.state,
            over=found.state.is_over,
            room=self._context.named(found.address),
            agent=found.agent,
            run=found.run,
            text=found.text,
            error=found.error,
            files=[FileView(name=one.name, path=one.path, size=one.size) for one in found.files],
            questions=[
                Question(
                    id=one.id,
                    kind=one.kind,
                    tool=one.tool,
                    expires_at=one.expires_at.isoformat(),
                    text=one.text,
                )
                for one in found.questions
            ],
            usage=Spent(
                input_tokens=found.input_tokens, output_tokens=found.output_tokens, cost_micros=found.cost_micros
            ),
            at=found.at.isoformat(),
            ended_at=found.ended_at.isoformat() if found.ended_at else None,
        )


def key_of(asked: Asked, context: OperatorContext) -> str:
    """The key of a request: the same for each try of it. Without one each request is a message of its own."""
    key = asked.request.headers.get("Idempotency-Key")
    if key is None:
        return context.new_id()
    if not KEY_FORM.fullmatch(key):
        raise Refusal(422, BAD_KEY)
    return key


def wait_of(asked: Asked) -> timedelta:
    text = asked.request.query.get("wait", "0")
    if not (text.isascii() and text.isdecimal() and len(text) <= 3 and int(text) <= WAIT_SECONDS_MAX):
        raise Refusal(422, BAD_WAIT)
    return timedelta(seconds=int(text))


def attention_of(outcome: Outcome, urgency: Urgency) -> str:
    """Course of a signal, in words."""
    match outcome:
        case Outcome.DUPLICATE | Outcome.MERGED:
            return "same as before"
        case Outcome.OBSERVED:
            return "kept as context"
        case _:
            return "interrupts" if urgency in (Urgency.HIGH, Urgency.CRITICAL) else "runs"


def signal_text(new: NewSignal) -> str:
    """A signal as the agent reads it: our own words first, then what the program says, as material."""
    payload = "" if new.payload is None else json.dumps(new.payload, ensure_ascii=False, indent=1)
    if len(payload.encode()) > PAYLOAD_BYTES_MAX:
        raise Refusal(413, PAYLOAD_TOO_LARGE)
    facts = "\n".join(f"{name}: {value}" for name, value in new.context.items())
    words = "\n\n".join(filter(None, [f"{new.type}: {new.summary}", facts, payload]))
    pieces = ["A program told of something that happened.", new.task.strip(), material(words, new.source)]
    return "\n\n".join(filter(None, pieces))


def _told(taken: TakenIn) -> Accepted:
    return Accepted(id=taken.id, outcome=taken.outcome.value, repeated=taken.repeated, notice=taken.notice)


def _accepted(taken: TakenIn) -> web.Response:
    headers: Mapping[str, str] = {"Location": f"/api/v1/messages/{taken.id}"}
    return web.json_response(_told(taken).model_dump(), status=200 if taken.repeated else 202, headers=headers)
