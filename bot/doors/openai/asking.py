"""Requests of OpenAI's clients in our words: which room, which agent, what is said, and what is only material. Pure."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from bot.doors.openai.wishes import Wishes, signal_of_call, unmarked
from bot.doors.rooms import OWN_ROOM
from runtime.domain.ids import digest
from runtime.domain.programs.token import ProgramToken
from runtime.http.bodies import TEXT_LIMIT
from runtime.http.errors import Refusal
from runtime.text.outside import material

ALIAS: Final = "signalbox"
"""Model of the token's usual agent; `signalbox/NAME` is the agent called so."""
EARLIER: Final = "an earlier conversation, as this client tells it"
EARLIER_MAX_CHARS: Final = 60_000
"""Characters of earlier messages that come along; the newest are kept."""
ROOM_DIGEST_CHARS: Final = 20
CALL_NAME_MAX_CHARS: Final = 64
IMAGES_MAX: Final = 10
IMAGE_BYTES_MAX: Final = 20 * 1024 * 1024
DATA_IMAGE: Final = re.compile(r"data:image/(png|jpeg|gif|webp);base64,(.*)", re.DOTALL)
OWN_WORDS: Final = ("system", "developer")
"""Roles whose words are the program's own."""
NO_WORDS: Final = (
    "There is no message of the user to answer: the last one must have the role `user`, or be the result of a call."
)
STRANGE_PART: Final = "A part of a message is of the type {kind!r}. Send text, or images as data URIs."
REMOTE_IMAGE: Final = "Send an image as a data URI (data:image/png;base64,…): addresses aren't fetched here."
TOO_MUCH: Final = f"A message has at most {TEXT_LIMIT:,} characters and {IMAGES_MAX} images of 20 MiB."
NO_TOOLS: Final = "`{name}` isn't taken here. Give functions as `tools`, and leave out the rest."
UNTAKEN: Final = ("functions", "function_call", "audio", "prediction")
RESULT: Final = "the program's tool {name}"
RESULTS: Final = "Results of the calls that you asked the program for:"
HARMLESS: Final[Sequence[object]] = (None, [], "none", "auto")


@dataclass(frozen=True, slots=True)
class Image:
    """An image that a client sent: its kind and its bytes."""

    kind: str
    data: bytes


Heard = tuple[str, str, tuple[Image, ...]]
"""Role, text and images of a message."""


@dataclass(frozen=True, slots=True)
class Words:
    """Words for an agent: of the program, of its user, and what was said before. `behind` is the message whose answer
    made the calls of which these are the results."""

    own: str
    said: str
    earlier: str = ""
    images: tuple[Image, ...] = ()
    wishes: Wishes = field(default_factory=Wishes)
    behind: str = ""

    def text(self, *, with_earlier: bool) -> str:
        """The message as the agent reads it. What was said before is material: nobody here heard it."""
        before = material(self.earlier, EARLIER) if with_earlier and self.earlier else ""
        said = unmarked("\n\n".join(filter(None, [self.own, self.said, before])))
        text = "\n\n".join(filter(None, [said, self.wishes.words]))
        if len(text) > TEXT_LIMIT + EARLIER_MAX_CHARS:
            raise Refusal(413, TOO_MUCH)
        return text


def agent_of(model: str) -> str:
    """The agent that a model's name means; empty for the token's usual one."""
    if model in ("", ALIAS):
        return ""
    return model.removeprefix(f"{ALIAS}/")


def room_of(token: ProgramToken, user: str, fresh: str) -> str:
    """The room of a request: the one that `user` names, the only one of the token, or a new one by `fresh`."""
    if user:
        return user if ":" in user or OWN_ROOM.fullmatch(user) else f"user-{digest(user)[:ROOM_DIGEST_CHARS]}"
    if len(token.rooms) == 1 and "*" not in token.rooms[0]:
        return token.rooms[0]
    return f"chat-{digest(fresh)[:ROOM_DIGEST_CHARS]}"


def refuse_untaken(given: dict[str, Any]) -> None:
    """Errors: Refusal 400 for parameters that would change the answer, and that nothing here honours."""
    for name in UNTAKEN:
        if given.get(name) not in HARMLESS:
            raise Refusal(400, NO_TOOLS.format(name=name))
    if given.get("n") not in (None, 1):
        raise Refusal(400, "`n` must be 1: an agent gives one answer.")


def words_of(messages: Sequence[Any], wishes: Wishes) -> Words:
    """Messages of a request. Errors: Refusal 400 where the last one is neither the user's nor the result of a call."""
    heard = [(_role(one), *_content(one)) for one in messages]
    if heard and heard[-1][0] == "tool":
        return _results(messages, heard, wishes)
    if not heard or heard[-1][0] != "user":
        raise Refusal(400, NO_WORDS)
    _, said, images = heard[-1]
    if not said.strip() and not images:
        raise Refusal(400, NO_WORDS)
    own = "\n\n".join(text for role, text, _ in heard[:-1] if role in OWN_WORDS and text.strip())
    before = [(role, text) for role, text, _ in heard[:-1] if role not in OWN_WORDS and text.strip()]
    if len(own) + len(said) > TEXT_LIMIT:
        raise Refusal(413, TOO_MUCH)
    return Words(own, said, _earlier(before), images, wishes)


def _results(messages: Sequence[Any], heard: Sequence[Heard], wishes: Wishes) -> Words:
    """Results of calls, each as material of its tool."""
    start = max((at for at, one in enumerate(heard) if one[0] != "tool"), default=-1) + 1
    names = dict(_called(messages))
    told, behind = [RESULTS], ""
    for message, (_, text, _) in zip(messages[start:], heard[start:], strict=True):
        call = str(message.get("tool_call_id") or "")
        told.append(material(text, RESULT.format(name=names.get(call, call)[:CALL_NAME_MAX_CHARS])))
        behind = behind or signal_of_call(call)
    said = "\n\n".join(told)
    if len(said) > TEXT_LIMIT:
        raise Refusal(413, TOO_MUCH)
    own = "\n\n".join(text for role, text, _ in heard[:start] if role in OWN_WORDS and text.strip())
    before = [(role, text) for role, text, _ in heard[:start] if role not in OWN_WORDS and text.strip()]
    return Words("" if behind else own, said, _earlier(before), (), wishes, behind)


def _called(messages: Sequence[Any]) -> Iterator[tuple[str, str]]:
    """Calls of earlier messages: their ids and names."""
    for message in messages:
        for call in message.get("tool_calls") or ():
            match call:
                case {"id": str(name), "function": {"name": str(tool)}}:
                    yield name, tool
                case _:
                    pass


def message_of(item: dict[str, Any]) -> dict[str, Any] | None:
    """An item of a response's input as a message; None for what is none, such as a reference."""
    match item:
        case {"type": "function_call_output", "call_id": name, "output": output}:
            return {"role": "tool", "tool_call_id": name, "content": output}
        case {"type": "function_call", "call_id": name, "name": tool, "arguments": arguments}:
            call = {"id": name, "type": "function", "function": {"name": tool, "arguments": arguments}}
            return {"role": "assistant", "content": None, "tool_calls": [call]}
        case {"type": "message"}:
            return item
        case _:
            return None if "type" in item else item


def _earlier(before: Sequence[tuple[str, str]]) -> str:
    lines: list[str] = []
    left = EARLIER_MAX_CHARS
    for role, text in reversed(before):
        line = f"{role}: {text}"
        if len(line) > left:
            lines.append("(earlier messages are left out)")
            break
        lines.append(line)
        left -= len(line)
    return "\n\n".join(reversed(lines))


def _role(message: Any) -> str:
    role = message.get("role") if isinstance(message, dict) else None
    if not isinstance(role, str):
        raise Refusal(400, "Each message needs a `role` and its `content`.")
    return role


def _content(message: dict[str, Any]) -> tuple[str, tuple[Image, ...]]:
    content = message.get("content")
    if content is None:
        calls = message.get("tool_calls")
        return (f"(called {json.dumps(calls, ensure_ascii=False)})" if calls else ""), ()
    if isinstance(content, str):
        return content, ()
    if not isinstance(content, list):
        raise Refusal(400, "`content` is text, or a list of parts.")
    return _parts(content)


def _parts(content: Iterable[Any]) -> tuple[str, tuple[Image, ...]]:
    texts, images = [], []
    for part in content:
        kind = part.get("type") if isinstance(part, dict) else None
        match kind:
            case "text" | "input_text" | "output_text":
                texts.append(str(part.get("text", "")))
            case "refusal":
                texts.append(str(part.get("refusal", "")))
            case "image_url":
                url = part.get("image_url")
                images.append(_image(url.get("url") if isinstance(url, dict) else url))
            case "input_image":
                images.append(_image(part.get("image_url")))
            case _:
                raise Refusal(400, STRANGE_PART.format(kind=kind))
    if len(images) > IMAGES_MAX:
        raise Refusal(413, TOO_MUCH)
    return "\n\n".join(texts), tuple(images)


def _image(url: Any) -> Image:
    found = DATA_IMAGE.fullmatch(url) if isinstance(url, str) else None
    if found is None:
        raise Refusal(400, REMOTE_IMAGE)
    try:
        data = base64.b64decode(found[2], validate=True)
    except (binascii.Error, ValueError) as error:
        raise Refusal(400, REMOTE_IMAGE) from error
    if len(data) > IMAGE_BYTES_MAX:
        raise Refusal(413, TOO_MUCH)
    return Image(found[1], data)
