"""Wire to Signal: what people write in a room, and what they change of it. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import quote

from signalbox.channels import (
    COMMANDS,
    UNREAD,
    Address,
    Addressing,
    Amended,
    Body,
    Clicked,
    Commanded,
    FileRef,
    Identity,
    Said,
    Signal,
)
from signalbox_matrix.rooms import Room
from signalbox_matrix.settings import MATRIX

Raw = Mapping[str, Any]

PART_KEY: Final = "signalbox.part"
"""Key of an event's content that holds the id of the part it shows: only programs like this one write it."""
COMMAND_MARK: Final = "!"
"""Begins a command: a slash is taken by the clients themselves."""
WORD_KINDS: Final = frozenset({"m.text", "m.notice", "m.emote"})
FILES: Final = frozenset({"m.image", "m.file", "m.audio", "m.video"})
OTHERS: Final[Mapping[str, str]] = {
    "m.location": "a location",
    "m.sticker": "a sticker",
    "m.poll.start": "a poll",
    "org.matrix.msc3381.poll.start": "a poll",
    "m.key.verification.request": "a request to verify a device",
}
"""What carries no words for us, and what it is called to people."""
QUOTED_LINES: Final = re.compile(r"(?:> .*(?:\n|$))+\n?")
"""How older clients write what is answered above the answer."""
EDGES: Final = " \t\n,:;\u00a0"
TIME_MAX_MS: Final = 253_402_300_799_000
"""The end of the year 9999. Any homeserver may write any number."""
COMMANDED: Final = re.compile(r"[!/]([a-z]+)\b")


@dataclass(frozen=True, slots=True)
class Me:
    """Our user id, and the name by which people call us in a room."""

    id: str
    name: str = ""

    @property
    def platform(self) -> str:
        return f"{MATRIX}:{self.id}"


@dataclass(frozen=True, slots=True)
class Scene:
    """Surroundings of an event. `row` is the room of the rows, `thread` the one it stands in; `answers_us`: it is an answer
    to a message of ours. `at` is when, by our clock."""

    me: Me
    room: Room
    row: str
    at: datetime
    thread: str = ""
    answers_us: bool = False

    @property
    def address(self) -> Address:
        return Address(MATRIX, self.me.id, self.row, self.thread)


def message(event: Raw, scene: Scene) -> Signal | None:
    """Signal of what somebody wrote; None for what says nothing to us.

    Errors: AttributeError, KeyError, TypeError or ValueError when it is malformed.
    """
    content = event["content"]
    reach = reach_of(content, scene)
    if (body := _body(event, content, scene.me, reach)) is None:
        return None
    return signal(
        event,
        scene,
        body,
        reach=reach,
        message_id=str(event["event_id"]),
        joinable=reach is Addressing.MENTION and bool(scene.thread),
        by_bot=content.get("msgtype") == "m.notice" or PART_KEY in content,
    )


def edit(event: Raw, scene: Scene) -> Signal | None:
    """Signal of a changed message; None where it has no words now."""
    content = event["content"]
    made, target = content["m.new_content"], str(content["m.relates_to"]["event_id"])
    if made.get("msgtype") not in WORD_KINDS:
        return None
    words = words_of(made, scene.me)
    return signal(event, scene, Amended(words), reach=reach_of(made, scene), message_id=target)


def click(event: Raw, scene: Scene, pressed: Clicked) -> Signal:
    """Signal of a choice: a reaction, or words that are one."""
    reach = Addressing.DIRECT if scene.room.is_direct else Addressing.MENTION
    return signal(event, scene, pressed, reach=reach)


def signal(event: Raw, scene: Scene, body: Body, **more: Any) -> Signal:
    sender = str(event["sender"])
    name = scene.room.called(sender)
    return Signal(
        platform=scene.me.platform,
        dedupe_key=str(event["event_id"]),
        actor=identity(sender),
        actor_name=name,
        address=scene.address,
        body=body,
        received_at=scene.at,
        command_mark=COMMAND_MARK,
        room_name=scene.room.title(name),
        **more,
    )


def instant(event: Raw) -> datetime:
    """Time that the sender's homeserver tells; one that can be no time is the first there is."""
    told = event.get("origin_server_ts")
    return datetime.fromtimestamp(told / 1000 if isinstance(told, int) and 0 <= told < TIME_MAX_MS else 0, UTC)


def identity(user: str) -> Identity:
    return Identity(f"{MATRIX}:{user}")


def reach_of(content: Raw, scene: Scene) -> Addressing:
    if scene.room.is_direct:
        return Addressing.DIRECT
    called = scene.answers_us or names_us(content, scene.me) or is_command(str(content.get("body") or ""))
    return Addressing.MENTION if called else Addressing.OVERHEARD


def names_us(content: Raw, me: Me) -> bool:
    """True if a message names the bot. `@room` names nobody in particular."""
    told = content.get("m.mentions")
    if isinstance(told, Mapping) and "user_ids" in told:
        return me.id in (told["user_ids"] or ())
    html, body = str(content.get("formatted_body") or ""), str(content.get("body") or "")
    by_link = any(f"matrix.to/#/{form}" in html for form in (me.id, quote(me.id, safe=":")))
    return by_link or me.id in body or bool(me.name and re.search(rf"(?<!\w){re.escape(me.name)}(?!\w)", body, re.I))


def is_command(text: str) -> bool:
    found = COMMANDED.match(text)
    return found is not None and found[1] in COMMANDS


def words_of(content: Raw, me: Me) -> str:
    """The words, without what they answer and without the mention that called us."""
    text = str(content.get("body") or "")
    if content.get("msgtype") == "m.emote":
        return f"* {text}"
    if text.startswith("> ") and answered_event(content):
        text = QUOTED_LINES.sub("", text, count=1)
    return _without_mention(text, me).strip()


def _without_mention(text: str, me: Me) -> str:
    """`text` without our name where it begins or ends with it."""
    local = me.id.removeprefix("@").partition(":")[0]
    for name in filter(None, (me.id, me.name, local)):
        for form in (f"@{name}", name):
            if text.lower().startswith(form.lower()) and text[len(form) : len(form) + 1] in ("", *EDGES):
                return text[len(form) :].lstrip(EDGES)
    for name in filter(None, (me.id, f"@{me.name}" if me.name else "")):
        if text.endswith(f" {name}"):
            return text.removesuffix(name)
    return text


def _body(event: Raw, content: Raw, me: Me, reach: Addressing) -> Said | Commanded | None:
    kind = str(content.get("msgtype") or event["type"])
    if kind in WORD_KINDS:
        words = words_of(content, me)
        return Said(words) if words else None
    if kind in FILES and (found := file_of(content)):
        caption = (
            words_of(content, me) if content.get("filename") and content["filename"] != content.get("body") else ""
        )
        return Said(caption, (found,))
    what = "an encrypted file" if kind in FILES else OTHERS.get(kind, "")
    return Commanded(UNREAD, what) if what and reach is Addressing.DIRECT else None


def file_of(content: Raw) -> FileRef | None:
    """A file that the homeserver holds; None for an encrypted one."""
    uri, info = content.get("url"), content.get("info")
    if not (isinstance(uri, str) and uri.startswith("mxc://")):
        return None
    info = info if isinstance(info, Mapping) else {}
    size = info.get("size")
    name = str(content.get("filename") or content.get("body") or "file")
    return FileRef(name, "", size if isinstance(size, int) else 0, uri, str(info.get("mimetype") or ""))


# ----------------------------------------------------------------------------------------------------------- relations


def relation(content: Raw) -> Raw:
    told = content.get("m.relates_to")
    return told if isinstance(told, Mapping) else {}


def thread_of(content: Raw) -> str:
    """The message that began the thread it stands in."""
    told = relation(content)
    return str(told.get("event_id") or "") if told.get("rel_type") == "m.thread" else ""


def answered_event(content: Raw) -> str:
    """The message that it answers. In a thread, clients without threads are told one that nobody meant."""
    told = relation(content)
    answered = told.get("m.in_reply_to")
    if told.get("rel_type") == "m.thread" and told.get("is_falling_back"):
        return ""
    return str(answered.get("event_id") or "") if isinstance(answered, Mapping) else ""


def is_edit(content: Raw) -> bool:
    return relation(content).get("rel_type") == "m.replace" and isinstance(content.get("m.new_content"), Mapping)
