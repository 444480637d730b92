"""Wire to Signal: messages and edits, as the gateway tells them and as the history shows them. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from adapters.discord.contents import files_of, unreadable, words
from adapters.discord.rooms import Place
from adapters.discord.snowflakes import made_at
from runtime.contract import UNREAD, Address, Addressing, Amended, Commanded, Identity, Reaction, Said, Signal

Raw = Mapping[str, Any]

CHANNEL: Final = "discord"
SPOKEN: Final = frozenset({0, 19})  # a message, a reply; others tell of joins, pins, new threads, commands


@dataclass(frozen=True, slots=True)
class Me:
    """Marks of a message to the bot: its id and its own roles in that server. `threads`: a mention begins a thread."""

    identity: str
    roles: frozenset[str] = frozenset()
    threads: bool = False

    @property
    def platform(self) -> str:
        return f"{CHANNEL}:{self.identity}"


def message(raw: Raw, place: Place, me: Me) -> Signal | None:
    """Signal of what somebody wrote; None for our own words, for what is no message, and for one that says nothing.

    Errors: KeyError, TypeError or ValueError when it is malformed.
    """
    if raw["type"] not in SPOKEN or is_own(raw, me):
        return None
    if (body := _body(raw, place, me)) is None:
        return None
    number, reach = str(raw["id"]), reach_of(raw, place, me)
    address = address_of(raw, place, reach, me)
    return Signal(
        platform=me.platform,
        dedupe_key=f"m{number}",
        actor=actor_of(raw["author"]),
        actor_name=name_of(raw),
        address=address,
        body=body,
        received_at=made_at(number),
        reach=reach,
        message_id=number,
        joinable=reach is Addressing.MENTION and bool(address.thread),
        by_bot=is_bot(raw),
        room_name=f"@{name_of(raw)}" if place.is_direct else place.room_name,
    )


def _body(raw: Raw, place: Place, me: Me) -> Said | Commanded | None:
    """Body of a message. Somebody who is alone with us is told of what cannot be read."""
    text, files = words(raw, me.identity, me.roles), files_of(raw)
    if text or files:
        return Said(text, files)
    what = unreadable(raw) if place.is_direct else ""
    return Commanded(UNREAD, what) if what else None


def edit(raw: Raw, place: Place, me: Me) -> Signal | None:
    """Signal of an edited message; None where no person changed its words (a preview of a link was added)."""
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
        body=Amended(words(raw, me.identity, me.roles)),
        received_at=datetime.fromisoformat(at),
        reach=reach,
        message_id=number,
        by_bot=is_bot(raw),
    )


def is_own(raw: Raw, me: Me) -> bool:
    return str(raw["author"]["id"]) == me.identity


def is_bot(raw: Raw) -> bool:
    return bool(raw["author"].get("bot") or raw.get("webhook_id"))


def reach_of(raw: Raw, place: Place, me: Me) -> Addressing:
    if place.is_direct:
        return Addressing.DIRECT
    return Addressing.MENTION if is_called(raw, me) else Addressing.OVERHEARD


def is_called(raw: Raw, me: Me) -> bool:
    """True if a message names the bot or answers it. `@everyone` names nobody in particular."""
    answered = (raw.get("referenced_message") or {}).get("author") or {}
    return (
        str(answered.get("id")) == me.identity
        or any(str(user["id"]) == me.identity for user in raw.get("mentions") or ())
        or not me.roles.isdisjoint(map(str, raw.get("mention_roles") or ()))
    )


def address_of(raw: Raw, place: Place, reach: Addressing, me: Me) -> Address:
    """Address of the answer. A thread that a message begins will have the message's id."""
    address = place.address(CHANNEL, me.identity)
    begins = me.threads and reach is Addressing.MENTION and place.has_threads
    return Address(CHANNEL, me.identity, address.room, str(raw["id"])) if begins else address


def reaction(raw: Raw, identity: str, *, is_added: bool) -> Reaction:
    """An emoji on a message, at the channel that the gateway tells. A server's own emoji has a name, which says nothing."""
    emoji = "" if raw["emoji"].get("id") else str(raw["emoji"]["name"])
    added, removed = ((emoji,), ()) if is_added else ((), (emoji,))
    room = Address(CHANNEL, identity, str(raw["channel_id"]))
    return Reaction(room, Identity(f"{CHANNEL}:{raw['user_id']}"), str(raw["message_id"]), added, removed)


def actor_of(user: Raw) -> Identity:
    return Identity(f"{CHANNEL}:{user['id']}")


def name_of(raw: Raw) -> str:
    """Name by which people call the author: the name in this server, the one they chose, the one of the account."""
    author = raw["author"]
    return str((raw.get("member") or {}).get("nick") or author.get("global_name") or author["username"])
