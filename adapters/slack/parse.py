"""Wire to Signal. Pure: names were looked up before, and nothing is asked here."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from adapters.slack.me import Me
from adapters.slack.words import names_me, readable
from runtime.contract import (
    COMMANDS,
    Address,
    Amended,
    ApprovalId,
    Body,
    Choice,
    Clicked,
    Commanded,
    FileRef,
    Identity,
    Reach,
    Said,
    Signal,
    Stopped,
)

CHANNEL: Final = "slack"
SPOKEN: Final = frozenset({None, "file_share", "thread_broadcast", "bot_message", "me_message"})
"""Kinds of messages in which somebody says something; joins, topics and the like are no words to us."""

BUTTON: Final = "signalbox:"
"""Begins the action_id of each button of ours."""
WITH_REASON: Final = "reason"
"""Stands in a button's value for "deny, and say why": it opens a form."""
DENIAL: Final = "signalbox:denial"
"""The callback_id of that form; its one input has block and action id `reason`."""

COMMAND: Final = re.compile(rf"!({'|'.join(COMMANDS)})\b\s*(.*)", re.IGNORECASE | re.DOTALL)
REASON_LIMIT: Final = 1_000  # characters
NAME: Final = re.compile(r"[^\w.() -]+")

Raw = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Sender:
    """Who did it: Slack's id of the person or bot, and the name people know."""

    id: str
    name: str


class Malformed(Exception):
    """Slack, or somebody who speaks as it does, sent what we cannot read."""


def parse(body: Raw, me: Me, sender: Sender, now: datetime) -> Signal | None:
    """The signal of a request's body; None for our own messages and for what is nobody's words.

    Errors: Malformed.
    """
    try:
        match kind_of(body):
            case "message":
                return _message(body, me, sender, now)
            case "block_actions":
                return _click(body, me, sender, now)
            case "view_submission":
                return _form(body, me, sender, now)
            case "command":
                return _command(body, me, sender, now)
            case "nothing":
                raise Malformed("there is no event in it")
            case _:
                return None
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise Malformed(f"{type(error).__name__}: {error}") from error


def kind_of(body: Raw) -> str:
    """What a request is about: message, block_actions, view_submission, command, or Slack's own word."""
    if body.get("type") == "event_callback":
        kind = _mapping(body.get("event")).get("type") or "nothing"
        return "message" if kind == "app_mention" else str(kind)
    return "command" if "command" in body else str(body.get("type"))


def sender_id(body: Raw) -> str:
    """Slack's id of who did it; "" where there is nobody."""
    event = _mapping(body.get("event"))
    inner = _mapping(event.get("message")) or event
    candidates = (inner.get("user"), inner.get("bot_id"), body.get("user_id"), _mapping(body.get("user")).get("id"))
    return next((one for one in candidates if isinstance(one, str)), "")


def _mapping(value: object) -> Raw:
    return value if isinstance(value, Mapping) else {}


def room_of(body: Raw) -> str:
    """The channel it happened in; "" where there is none."""
    candidates = (
        _mapping(body.get("event")).get("channel"),
        _mapping(body.get("channel")).get("id"),
        body.get("channel_id"),
    )
    return next((one for one in candidates if isinstance(one, str)), "")


def said_at(body: Raw) -> float | None:
    """When it happened by Slack's clock, in seconds; None where that is not told."""
    event = body.get("event")
    try:
        return float(event["event_ts"]) if isinstance(event, Mapping) else None
    except (KeyError, TypeError, ValueError):
        return None


def as_event(message: Raw, room: str) -> Raw:
    """A message that was read in the history, as the event that nobody told us of."""
    event = {**message, "type": "message", "channel": room, "event_ts": message.get("ts")}
    return {"type": "event_callback", "event_id": f"h{room}:{message.get('ts')}", "event": event}


# ------------------------------------------------------------------------------------------------------- messages


def _message(body: Raw, me: Me, sender: Sender, now: datetime) -> Signal | None:
    event = body["event"]
    if event.get("subtype") == "message_changed":
        return _changed(body, me, sender, now)
    if event.get("subtype") not in SPOKEN or _is_mine(event, me):
        return None
    files = tuple(_file(file, event["ts"]) for file in event.get("files") or ())
    text = readable(_text(event), me)
    if not text and not files and not names_me(event.get("text") or "", me):
        return None
    said = _said(text, files, event, me)
    return _heard(body, me, sender, now, event, said, natural_key=f"{event['channel']}:{event['ts']}")


def _changed(body: Raw, me: Me, sender: Sender, now: datetime) -> Signal | None:
    """Somebody edited their words; a preview of a link is no edit."""
    event = body["event"]
    after, before = event["message"], event.get("previous_message") or {}
    if not after.get("edited") or after.get("text") == before.get("text") or _is_mine(after, me):
        return None
    told = {**after, "channel": event["channel"], "channel_type": event.get("channel_type")}
    return _heard(body, me, sender, now, told, Amended(readable(_text(after), me)))


def _heard(
    body: Raw, me: Me, sender: Sender, now: datetime, event: Raw, said: Body, *, natural_key: str | None = None
) -> Signal:
    direct = is_direct(event)
    thread = event.get("thread_ts") or ("" if direct else event["ts"])
    return Signal(
        platform=f"{CHANNEL}:{me.team}",
        dedupe_key=str(body["event_id"]),
        actor=Identity(f"{CHANNEL}:{me.team}/{sender.id}"),
        actor_name=sender.name,
        address=Address(CHANNEL, me.team, event["channel"], thread),
        body=said,
        received_at=now,
        natural_key=natural_key,
        reach=_reach(event, said, me, direct=direct),
        message_id=event["ts"],
        joinable=not direct,
        by_bot=bool(event.get("bot_id")),
    )


def _reach(event: Raw, said: Body, me: Me, *, direct: bool) -> Reach:
    """In a thread that hangs on a message of ours, and for a command in a thread, no mention is needed."""
    if direct:
        return Reach.DIRECT
    in_thread = event.get("thread_ts") not in (None, event["ts"])
    named = event["type"] == "app_mention" or names_me(event.get("text") or "", me)
    answers = in_thread and event.get("parent_user_id") == me.user
    ordered = in_thread and isinstance(said, Commanded | Stopped)
    return Reach.MENTION if named or answers or ordered else Reach.OVERHEARD


def is_direct(event: Raw) -> bool:
    """Whether a person is alone with the bot there."""
    return event.get("channel_type") == "im" or str(event["channel"]).startswith("D")


def _is_mine(message: Raw, me: Me) -> bool:
    return message.get("user") == me.user or (bool(me.bot) and message.get("bot_id") == me.bot)


def _text(message: Raw) -> str:
    """The words, and those of a message that was shared along."""
    shared = [a for a in message.get("attachments") or () if a.get("is_share") or a.get("is_msg_unfurl")]
    quotes = ["\n".join(f"> {line}" for line in str(a.get("text") or "").splitlines()) for a in shared]
    return "\n\n".join(filter(None, [message.get("text") or "", *quotes]))


def _said(text: str, files: tuple[FileRef, ...], event: Raw, me: Me) -> Body:
    """Words, or a command that they are: where slash commands do not work, `!help` does. A bare mention asks for help."""
    if not text and not files:
        return Commanded("help")
    found = COMMAND.fullmatch(text)
    if found is None or files:
        return Said(text, files)
    return ordered(found[1].lower(), found[2].strip())


def ordered(name: str, argument: str) -> Commanded | Stopped:
    return Stopped() if name == "stop" else Commanded(name, argument)


def _file(file: Raw, ts: str) -> FileRef:
    """A file that is still at Slack. Its id is the handle: the link would need the token."""
    name = str(file.get("name") or file.get("title") or file["id"])
    safe = NAME.sub("_", name.rpartition("/")[2]).lstrip(". ")[-100:] or file["id"]
    return FileRef(
        name, f"inbox/{file['id']}/{safe}", int(file.get("size") or 0), file["id"], str(file.get("mimetype") or "")
    )


# ---------------------------------------------------------------------------------------- buttons, forms, commands


def form_wanted(body: Raw) -> str | None:
    """The approval for which a pressed button wants the form; None for every other press. Errors: Malformed."""
    try:
        action = _our_action(body)
        approval, _, word = str(action["value"]).rpartition(":") if action else ("", "", "")
    except (KeyError, TypeError, AttributeError) as error:
        raise Malformed(f"{type(error).__name__}: {error}") from error
    return approval if word == WITH_REASON else None


def _our_action(body: Raw) -> Raw | None:
    actions = [action for action in body["actions"] if str(action.get("action_id")).startswith(BUTTON)]
    return actions[0] if actions else None


def _click(body: Raw, me: Me, sender: Sender, now: datetime) -> Signal | None:
    action = _our_action(body)
    if action is None:
        return None
    approval, _, choice = str(action["value"]).rpartition(":")
    clicked = Clicked(ApprovalId(approval), Choice(choice))
    return _pressed(body, me, sender, now, str(body["trigger_id"]), card_address(body, me), clicked)


def card_address(body: Raw, me: Me) -> Address:
    """Where the card is whose button was pressed. Errors: KeyError."""
    container, message = body.get("container") or {}, body.get("message") or {}
    room = (body.get("channel") or {}).get("id") or container["channel_id"]
    thread = message.get("thread_ts") or container.get("thread_ts") or ""
    return Address(CHANNEL, me.team, room, thread)


def _form(body: Raw, me: Me, sender: Sender, now: datetime) -> Signal | None:
    view = body["view"]
    if view.get("callback_id") != DENIAL:
        return None
    about = json.loads(view["private_metadata"])
    reason = str(view["state"]["values"]["reason"]["reason"].get("value") or "").strip()[:REASON_LIMIT]
    address = Address(CHANNEL, me.team, str(about["room"]), str(about["thread"]))
    denied = Clicked(ApprovalId(str(about["approval"])), Choice.DENY, reason)
    return _pressed(body, me, sender, now, f"v{view['id']}", address, denied)


def _command(body: Raw, me: Me, sender: Sender, now: datetime) -> Signal | None:
    """`/signalbox status`, or `/status` where an operator gave us a command of that name."""
    name = str(body["command"]).lstrip("/").lower()
    argument = readable(str(body.get("text") or ""), me)
    if name not in COMMANDS:
        name, _, argument = argument.partition(" ")
    said = ordered(name.lower() or "help", argument.strip())
    address = Address(CHANNEL, me.team, body["channel_id"])
    return _pressed(body, me, sender, now, str(body["trigger_id"]), address, said)


def _pressed(body: Raw, me: Me, sender: Sender, now: datetime, key: str, address: Address, said: Body) -> Signal:
    """What a person did with a button, a form or a command: always meant for us."""
    return Signal(
        platform=f"{CHANNEL}:{me.team}",
        dedupe_key=key,
        actor=Identity(f"{CHANNEL}:{me.team}/{sender.id}"),
        actor_name=sender.name,
        address=address,
        body=said,
        received_at=now,
        reach=Reach.DIRECT if address.room.startswith("D") else Reach.MENTION,
    )
