"""Requests of OpenAI's clients in our words: which room, which agent, what is said, and what is only material. Pure."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

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
IMAGES_MAX: Final = 10
IMAGE_BYTES_MAX: Final = 20 * 1024 * 1024
DATA_IMAGE: Final = re.compile(r"data:image/(png|jpeg|gif|webp);base64,(.*)", re.DOTALL)
OWN_WORDS: Final = ("system", "developer")
"""Roles whose words are the program's own."""
NO_WORDS: Final = "There is no message of the user to answer: the last one must have the role `user`."
STRANGE_PART: Final = "A part of a message is of the type {kind!r}. Send text, or images as data URIs."
REMOTE_IMAGE: Final = "Send an image as a data URI (data:image/png;base64,…): addresses aren't fetched here."
TOO_MUCH: Final = f"A message has at most {TEXT_LIMIT:,} characters and {IMAGES_MAX} images of 20 MiB."
NO_TOOLS: Final = (
    "`{name}` isn't taken here yet: an agent works with the tools that its settings give it. Leave it out."
)
NO_FORM: Final = "Answers by a schema aren't given here yet: say in words which form you need, or leave the format out."
UNTAKEN: Final = ("tools", "functions", "tool_choice", "function_call", "audio", "prediction")
HARMLESS: Final[Sequence[object]] = (None, [], "none", "auto")


@dataclass(frozen=True, slots=True)
class Image:
    """An image that a client sent: its kind and its bytes."""

    kind: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Words:
    """Words for an agent: of the program, of its user, and what was said before."""

    own: str
    said: str
    earlier: str = ""
    images: tuple[Image, ...] = ()

    def text(self, *, with_earlier: bool) -> str:
        """The message as the agent reads it. What was said before is material: nobody here heard it."""
        before = material(self.earlier, EARLIER) if with_earlier and self.earlier else ""
        text = "\n\n".join(filter(None, [self.own, self.said, before]))
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
    form = given.get("response_format") or _format_of(given.get("text"))
    if form and not (isinstance(form, dict) and form.get("type") == "text"):
        raise Refusal(400, NO_FORM)
    if given.get("n") not in (None, 1):
        raise Refusal(400, "`n` must be 1: an agent gives one answer.")


def words_of(messages: Sequence[Any]) -> Words:
    """Messages of a request. Errors: Refusal 400 where the last one is not the user's."""
    heard = [(_role(one), *_content(one)) for one in messages]
    if not heard or heard[-1][0] != "user":
        raise Refusal(400, NO_WORDS)
    _, said, images = heard[-1]
    if not said.strip() and not images:
        raise Refusal(400, NO_WORDS)
    own = "\n\n".join(text for role, text, _ in heard[:-1] if role in OWN_WORDS and text.strip())
    before = [(role, text) for role, text, _ in heard[:-1] if role not in OWN_WORDS and text.strip()]
    if len(own) + len(said) > TEXT_LIMIT:
        raise Refusal(413, TOO_MUCH)
    return Words(own, said, _earlier(before), images)


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


def _format_of(text: Any) -> Any:
    """Format that a response asks for."""
    return text.get("format") if isinstance(text, dict) else None
