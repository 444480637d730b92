"""Wire to Signal: messages and edits, as the gateway tells them and as the history shows them. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any, Final

from adapters.discord.rooms import Place
from adapters.discord.snowflakes import made_at
from runtime.contract import Address, Amended, FileRef, Identity, Reach, Said, Signal

Raw = Mapping[str, Any]

CHANNEL: Final = "discord"
SPOKEN: Final = frozenset({0, 19})  # a message, a reply; others tell of joins, pins, new threads, commands
USER: Final = re.compile(r"<@!?(\d+)>")
ROLE: Final = re.compile(r"<@&(\d+)>")
EDGES: Final = " \t\n,:\u00a0"
FOLDER: Final = "inbox"  # where files are put in the workspace
UNSAFE: Final = re.compile(r"[^\w.\- ]+")
NAME: Final = 100  # characters of a file name


@dataclass(frozen=True, slots=True)
class Me:
    """How the bot is spoken to: its id, its own roles in that server, and whether a mention begins a thread."""

    identity: str
    roles: frozenset[str] = frozenset()
    threads: bool = False

    @property
    def platform(self) -> str:
        return f"{CHANNEL}:{self.identity}"


def message(raw: Raw, place: Place, me: Me) -> Signal | None:
    """What somebody wrote; None for our own words, for what is no message, and for one that says nothing.

    Errors: KeyError, TypeError or ValueError when it is malformed.
    """
    if raw["type"] not in SPOKEN or is_own(raw, me):
        return None
    text, files = words(raw, me), files_of(raw)
    if not text and not files:
        return None
    number, reach = str(raw["id"]), reach_of(raw, place, me)
    return Signal(
        platform=me.platform,
        dedupe_key=f"m{number}",
        actor=actor_of(raw["author"]),
        actor_name=name_of(raw),
        address=address_of(raw, place, reach, me),
        body=Said(text, files),
        received_at=made_at(number),
        reach=reach,
        message_id=number,
        joinable=reach is Reach.MENTION and (place.is_thread or me.threads),
        by_bot=is_bot(raw),
        room_name=f"@{name_of(raw)}" if place.is_direct else place.room_name,
    )


def edit(raw: Raw, place: Place, me: Me) -> Signal | None:
    """What somebody's message says now; None where no person changed its words (a preview of a link was added)."""
    at = raw.get("edited_timestamp")
    if not at or "content" not in raw or raw["type"] not in SPOKEN or is_own(raw, me):
        return None
    number, reach = str(raw["id"]), reach_of(raw, place, me)
    return Signal(
        platform=me.platform,
        dedupe_key=f"e{number}:{at}",
        actor=actor_of(raw["author"]),
        actor_name=name_of(raw),
        address=address_of(raw, place, reach, me),
        body=Amended(words(raw, me)),
        received_at=datetime.fromisoformat(at),
        reach=reach,
        message_id=number,
        by_bot=is_bot(raw),
    )


def is_own(raw: Raw, me: Me) -> bool:
    return str(raw["author"]["id"]) == me.identity


def is_bot(raw: Raw) -> bool:
    return bool(raw["author"].get("bot") or raw.get("webhook_id"))


def reach_of(raw: Raw, place: Place, me: Me) -> Reach:
    if place.is_direct:
        return Reach.DIRECT
    return Reach.MENTION if is_called(raw, me) else Reach.OVERHEARD


def is_called(raw: Raw, me: Me) -> bool:
    """Whether a message names the bot or answers it. `@everyone` names nobody in particular."""
    answered = (raw.get("referenced_message") or {}).get("author") or {}
    return (
        str(answered.get("id")) == me.identity
        or any(str(user["id"]) == me.identity for user in raw.get("mentions", ()))
        or not me.roles.isdisjoint(map(str, raw.get("mention_roles", ())))
    )


def address_of(raw: Raw, place: Place, reach: Reach, me: Me) -> Address:
    """Where the answer goes. A thread that a message begins will have the message's id."""
    address = place.address(CHANNEL, me.identity)
    begins = me.threads and reach is Reach.MENTION and not place.is_thread
    return Address(CHANNEL, me.identity, address.room, str(raw["id"])) if begins else address


def words(raw: Raw, me: Me) -> str:
    """The text without the mention that called us, others named as people read them."""
    names = {str(user["id"]): user.get("global_name") or user["username"] for user in raw.get("mentions", ())}
    content = str(raw.get("content") or "") or forwarded(raw)

    def user(found: re.Match[str]) -> str:
        name = names.get(found[1])
        return found[0] if name is None else f"@{name}"

    text = _without(_without(content, USER, {me.identity}), ROLE, me.roles)
    return USER.sub(user, text).strip()


def forwarded(raw: Raw) -> str:
    """The words of a message that was passed on, which are not in its own."""
    passed = [snapshot.get("message") or {} for snapshot in raw.get("message_snapshots") or ()]
    return "\n\n".join(str(one.get("content") or "") for one in passed).strip()


def _without(text: str, mention: re.Pattern[str], own: frozenset[str] | set[str]) -> str:
    """`text` without our mentions, and without the comma or colon behind the first where it stands in front."""
    ours = [found for found in mention.finditer(text) if found[1] in own]
    for found in reversed(ours):
        before, behind = text[: found.start()], text[found.end() :]
        text = before + (behind.lstrip(EDGES) if not before.strip() else behind)
    return text.strip() if ours else text


def actor_of(user: Raw) -> Identity:
    return Identity(f"{CHANNEL}:{user['id']}")


def name_of(raw: Raw) -> str:
    """What people call the author: the name in this server, the one they chose, the one of the account."""
    author = raw["author"]
    return str((raw.get("member") or {}).get("nick") or author.get("global_name") or author["username"])


def files_of(raw: Raw) -> tuple[FileRef, ...]:
    """Attachments, by a handle: their links end after a day, and whoever has one needs no token."""
    return tuple(_file(raw, number, one) for number, one in enumerate(raw.get("attachments", ()), 1))


def _file(raw: Raw, number: int, attachment: Raw) -> FileRef:
    name = str(attachment["filename"])
    return FileRef(
        name=name,
        path=f"{FOLDER}/{raw['id']}-{number}-{safe(name)}",
        size=int(attachment["size"]),
        remote=f"{raw['channel_id']}/{raw['id']}/{attachment['id']}",
        mime=str(attachment.get("content_type") or ""),
    )


def safe(name: str) -> str:
    """A file name that leads nowhere else; its end, which says the kind, is kept."""
    plain = UNSAFE.sub("_", PurePosixPath(name.replace("\\", "/")).name).strip(". ") or "file"
    return plain[-NAME:]
