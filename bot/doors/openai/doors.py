"""Doors for OpenAI's clients: models, chat completions, responses and embeddings, each answered by agents."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from aiohttp import web
from pydantic import BaseModel, ConfigDict

from bot.doors.callers import Caller
from bot.doors.conversing import Conversing, TakenIn, Wanted
from bot.doors.live.growing import GrowingAnswers
from bot.doors.openai import answers, responses
from bot.doors.openai.asking import ALIAS, Image, Words, agent_of, message_of, refuse_untaken, room_of, words_of
from bot.doors.openai.embeddings import EmbeddingDoor
from bot.doors.openai.reading import WishedAnswers
from bot.doors.openai.streaming import ChatListener, ResponseListener, StreamListener
from bot.doors.openai.told import RESPONSE_ID, Told
from bot.doors.openai.wishes import wishes_of
from bot.doors.rest import key_of
from bot.doors.streams import STREAM_LIFE, Streams, begun
from bot.doors.table import Asked, Door
from bot.operator.context import OperatorContext
from runtime.contract import INBOX, Address, FileRef
from runtime.domain.ids import digest
from runtime.http.errors import Refusal

HELD_MAX: Final = timedelta(seconds=280)
"""How long a request without a stream is held: below the limit of common clients."""
CHAT_BYTES_MAX: Final = 32 * 1024 * 1024
NO_RESPONSE: Final = "There is no response {name!r} for this token."
BAD_START: Final = "`starting_after` is the sequence_number of the last event that came."
FILE_DIGEST_CHARS: Final = 10
START_MAX_DIGITS: Final = 15


class Loose(BaseModel):
    """Clients send much that agents decide by their settings: it is let through, and not used."""

    model_config = ConfigDict(extra="allow")

    model: str = ""
    stream: bool | None = False
    user: str | None = ""


class ChatBody(Loose):
    messages: list[Any]
    stream_options: dict[str, Any] | None = None


class ResponseBody(Loose):
    input: str | list[Any]
    instructions: str | None = None
    previous_response_id: str | None = None
    background: bool | None = False


@dataclass(frozen=True, slots=True)
class Asking:
    """A request in our words; `same` is what a repeat with its key must say, too."""

    words: Words
    model: str
    user: str
    same: str
    previous: str | None = None


class OpenAiDoors:
    def __init__(self, context: OperatorContext, conversing: Conversing, growing: GrowingAnswers) -> None:
        self._context = context
        self._conversing = conversing
        self._growing = growing
        self._wished = WishedAnswers(conversing, growing)
        self._streams = Streams()
        self._embeddings = EmbeddingDoor(context, conversing)

    def doors(self) -> list[Door]:
        made = [
            ("GET", "/v1/models", "list_models", self.models),
            ("GET", "/v1/models/{model}", "get_model", self.model),
            ("POST", "/v1/chat/completions", "chat", self.chat),
            ("POST", "/v1/responses", "respond", self.respond),
            ("GET", "/v1/responses/{id}", "get_response", self.response),
            ("POST", "/v1/responses/{id}/cancel", "cancel_response", self.cancel),
            ("POST", "/v1/embeddings", "embed", self._embeddings.embed),
        ]
        return [
            Door(method=method, path=path, name=name, summary=name, serve=serve, group="OpenAI")
            for method, path, name, serve in made
        ]

    # ------------------------------------------------------------------------------------------------------- models

    async def models(self, asked: Asked) -> web.Response:
        names = self._conversing.agents(asked.caller)
        data = [_model(name) for name in (*([ALIAS] if names else []), *names)]
        return web.json_response({"object": "list", "data": data})

    async def model(self, asked: Asked) -> web.Response:
        name = asked.pieces["model"]
        self._conversing.agent(asked.caller, agent_of(name))
        return web.json_response(_model(name))

    # --------------------------------------------------------------------------------------------- chat completions

    async def chat(self, asked: Asked) -> web.StreamResponse:
        body = await asked.body(ChatBody, CHAT_BYTES_MAX)
        given = body.model_extra or {}
        refuse_untaken(given)
        key, words = key_of(asked, self._context), words_of(body.messages, wishes_of(given))
        same = json.dumps([body.model, body.messages, _wished(given)], sort_keys=True)
        taken = await self._said(asked, Asking(words, body.model, body.user or "", same), key)
        if not body.stream:
            told = await self._wished.told(asked.caller, taken.id, HELD_MAX)
            if told.wrong:
                raise Refusal(502, told.wrong)
            return web.json_response(answers.completion(told))
        with_usage = bool((body.stream_options or {}).get("include_usage"))
        return await self._chat_stream(asked, taken, with_usage=with_usage)

    async def _chat_stream(self, asked: Asked, taken: TakenIn, *, with_usage: bool) -> web.StreamResponse:
        def listener(response: web.StreamResponse) -> StreamListener:
            return ChatListener(response, with_usage=with_usage)

        return await self._streamed(asked, taken.id, listener)

    async def _streamed(
        self, asked: Asked, signal_id: str, listener: Callable[[web.StreamResponse], StreamListener]
    ) -> web.StreamResponse:
        await self._conversing.look(asked.caller, signal_id)  # what isn't there is refused, not streamed
        with self._streams.opened(asked.caller):
            response = await begun(asked.request)
            told_to = listener(response)
            await self._growing.follow(asked.caller, signal_id, told_to, STREAM_LIFE)
            if told_to.is_wrong:
                await told_to.send(await self._asked_again(asked.caller, signal_id, told_to), is_end=True)
            return response

    async def _asked_again(self, caller: Caller, signal_id: str, listener: StreamListener) -> Told:
        """The second answer, with a sign of life meanwhile."""
        for _ in range(HELD_MAX // listener.beat_each):
            told = await self._wished.told(caller, signal_id, listener.beat_each)
            if told.is_last:
                break
            await listener.beat()
        return told

    # ---------------------------------------------------------------------------------------------------- responses

    async def respond(self, asked: Asked) -> web.StreamResponse:
        body = await asked.body(ResponseBody, CHAT_BYTES_MAX)
        given = body.model_extra or {}
        refuse_untaken(given)
        key, previous = key_of(asked, self._context), body.previous_response_id
        words = words_of(_messages(body), wishes_of(given))
        same = json.dumps([body.model, body.input, body.instructions, previous, _wished(given)], sort_keys=True)
        taken = await self._said(asked, Asking(words, body.model, body.user or "", same, previous), key)
        if body.stream:
            return await self._response_stream(asked, taken.id, previous, after=-1)
        within = timedelta() if body.background else HELD_MAX
        told = await self._wished.told(asked.caller, taken.id, within)
        return web.json_response(responses.response(told, previous, background=bool(body.background)))

    async def response(self, asked: Asked) -> web.StreamResponse:
        """A response as it stands, or its stream behind an event that came already."""
        name, query = _signal_of(asked.pieces["id"]), asked.request.query
        if query.get("stream") != "true":
            return web.json_response(responses.response(await self._wished.told(asked.caller, name)))
        after = query.get("starting_after", "-1")
        if not (after == "-1" or (after.isascii() and after.isdecimal() and len(after) <= START_MAX_DIGITS)):
            raise Refusal(400, BAD_START)
        return await self._response_stream(asked, name, None, after=int(after))

    async def cancel(self, asked: Asked) -> web.Response:
        name = _signal_of(asked.pieces["id"])
        found = await self._conversing.look(asked.caller, name)
        if not found.state.is_over:
            await self._conversing.stop(asked.caller, found.address, f"cancel-{name}")
            await self._conversing.answered(asked.caller, name, timedelta(seconds=5))
        return web.json_response(responses.response(await self._wished.told(asked.caller, name)))

    async def _response_stream(
        self, asked: Asked, signal_id: str, previous: str | None, *, after: int
    ) -> web.StreamResponse:
        """Events behind the number `after`; each node makes the same ones of the same rows."""

        def listener(response: web.StreamResponse) -> StreamListener:
            return ResponseListener(response, previous, after=after)

        return await self._streamed(asked, signal_id, listener)

    async def _room_behind(self, caller: Caller, previous: str) -> Address:
        return (await self._conversing.look(caller, _signal_of(previous))).address

    # ------------------------------------------------------------------------------------------------------- saying

    async def _room(self, caller: Caller, asking: Asking, key: str) -> str | Address:
        """The room of the response before, of the calls whose results come, of the user, or a new one."""
        behind = asking.previous or (f"{RESPONSE_ID}{asking.words.behind}" if asking.words.behind else "")
        if behind:
            return await self._room_behind(caller, behind)
        return room_of(caller.token, asking.user, f"{caller.identity} {key}")

    async def _said(self, asked: Asked, asking: Asking, key: str) -> TakenIn:
        caller = asked.caller
        agent = self._conversing.agent(caller, agent_of(asking.model))
        room = await self._room(caller, asking, key)
        address = await self._conversing.place(caller, room)
        is_new = await self._context.store.history.is_untouched(address)
        files = await self._kept(caller, address, asking.words.images) if asking.words.images else ()
        wanted = Wanted(
            room=room,
            text=asking.words.text(with_earlier=is_new),
            key=key,
            agent=agent,
            files=files,
            same=asking.same,
        )
        return await self._conversing.say(caller, wanted)

    async def _kept(self, caller: Caller, address: Address, images: tuple[Image, ...]) -> tuple[FileRef, ...]:
        """Images in the room's workspace, at paths that are made of what they are: a repeat writes the same ones."""
        made = []
        for number, image in enumerate(images, 1):
            folder = digest(image.data.hex())[:FILE_DIGEST_CHARS]
            file = FileRef(
                f"image-{number}.{image.kind}", f"{INBOX}/{folder}/image-{number}.{image.kind}", len(image.data)
            )
            async with self._context.files().counting(address, file.path, len(image.data), caller.person.id):
                await asyncio.to_thread(self._context.keep, address, file.path, image.data)
            made.append(file)
        return tuple(made)


def _messages(body: ResponseBody) -> list[Any]:
    own = [{"role": "system", "content": body.instructions}] if body.instructions else []
    if isinstance(body.input, str):
        return [*own, {"role": "user", "content": body.input}]
    made = (message_of(one) if isinstance(one, dict) else one for one in body.input)
    return [*own, *(one for one in made if one is not None)]


def _wished(given: dict[str, Any]) -> list[Any]:
    """Parts of a request that a repeat must have, too."""
    return [given.get(name) for name in ("tools", "tool_choice", "response_format", "text")]


def _model(name: str) -> dict[str, object]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "signalbox"}


def _signal_of(name: str) -> str:
    """The message of a response. Errors: Refusal 404."""
    if not name.startswith(RESPONSE_ID):
        raise Refusal(404, NO_RESPONSE.format(name=name[:64]))
    return name.removeprefix(RESPONSE_ID)
