"""What a platform never sends of a press, or sends from another place: by somebody with the right, and still void."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tests.security.presses import Raw, Twist


def put(value: Any, *path: str | int) -> Twist:
    """Puts `value` at that place."""

    def twist(raw: Raw) -> None:
        place: Any = raw
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = value

    return twist


def without(*names: str) -> Twist:
    def twist(raw: Raw) -> None:
        for name in names:
            raw.pop(name, None)

    return twist


def both(*twists: Twist) -> Twist:
    def twist(raw: Raw) -> None:
        for one in twists:
            one(raw)

    return twist


NO_RECORD: Final[Mapping[str, Any]] = {"nothing": None, "a number": 7, "text": "x", "a list": [], "an empty record": {}}
NO_TEXT: Final[Mapping[str, Any]] = {"nothing": None, "a number": 7, "a list": [], "a record": {}}

SLACK: Final[Mapping[str, Twist]] = {
    "another workspace": put("T2", "team", "id"),
    "another workspace by its id": put("T2", "team_id"),
    "another channel": put("C2", "channel", "id"),
    "no channel": without("channel", "container"),
    "no person": without("user"),
    "no buttons": without("actions"),
    "no trigger": without("trigger_id"),
    "another app's button": put("other:x", "actions", 0, "action_id"),
    **{f"a person that is {what}": put(value, "user") for what, value in NO_RECORD.items()},
    **{f"a button that is {what}": put([value], "actions") for what, value in NO_RECORD.items()},
    **{f"buttons that are {what}": put(value, "actions") for what, value in NO_RECORD.items()},
    **{f"a value that is {what}": put(value, "actions", 0, "value") for what, value in NO_TEXT.items()},
    **{f"the type {word}": put(word, "type") for word in ("shortcut", "view_submission", "event_callback", "")},
}
TELEGRAM: Final[Mapping[str, Twist]] = {
    "another chat": put({"id": -1_000_000_000_777, "type": "supergroup", "title": "Other"}, "message", "chat"),
    "no message": without("message"),
    "another's message": both(without("message"), put("abc", "inline_message_id")),
    "a game": both(without("data"), put("chess", "game_short_name")),
    "no person": without("from"),
    "no data": without("data"),
    **{f"a person that is {what}": put(value, "from") for what, value in NO_RECORD.items()},
    **{f"a message that is {what}": put(value, "message") for what, value in NO_RECORD.items()},
    **{f"data that is {what}": put(value, "data") for what, value in NO_TEXT.items()},
}
DISCORD: Final[Mapping[str, Twist]] = {
    "another channel": put({"id": "7100002", "type": 0, "guild_id": "1"}, "channel"),
    "no channel": both(without("channel"), put("7100002", "channel_id")),
    "no person": without("member"),
    "no data": without("data"),
    **{f"a member that is {what}": put(value, "member") for what, value in NO_RECORD.items()},
    **{f"data that is {what}": put(value, "data") for what, value in NO_RECORD.items()},
    **{f"a button that is {what}": put(value, "data", "custom_id") for what, value in NO_TEXT.items()},
    **{f"the type {number}": put(number, "type") for number in (1, 4, 99)},
}
WEB: Final[Mapping[str, Twist]] = {
    "another room": put("room0002", "json", "room"),
    "no json": put(b"{", "data"),
    "isn't utf-8": put(b'{"id": "\xff\xfe"}', "data"),
    "nested without end": put(b"[" * 100_000, "data"),
    "more than a mebibyte": put(b'{"id": "' + b"a" * (1 << 20) + b'"}', "data"),
    "another site": put("http://evil.example", "headers", "Origin"),
    "another name for us": put("evil.example", "headers", "Host"),
    "a plain form": both(put("text/plain", "headers", "Content-Type"), lambda raw: raw["headers"].pop("X-Signalbox")),
    "no cookie": put("", "headers", "Cookie"),
    "a guessed cookie": put("signalbox=guessed", "headers", "Cookie"),
    "a short id": put("a", "json", "id"),
    "a reason without end": put("x" * 1_001, "json", "reason"),
    "half a character": put("\ud800", "json", "reason"),
    **{f"a room that is {what}": put(value, "json", "room") for what, value in NO_TEXT.items()},
    **{f"an id that is {what}": put(value, "json", "id") for what, value in NO_TEXT.items()},
    **{f"a choice that is {what}": put(value, "json", "choice") for what, value in NO_TEXT.items()},
    **{f"a reason that is {what}": put(value, "json", "reason") for what, value in NO_TEXT.items()},
    **{f"a body that is {what}": put(value, "json") for what, value in NO_RECORD.items()},
}
TWISTS: Final[Mapping[str, Mapping[str, Twist]]] = {
    "slack-socket": SLACK,
    "slack-http": SLACK,
    "telegram": TELEGRAM,
    "telegram-webhook": TELEGRAM,
    "discord": DISCORD,
    "web": WEB,
}
