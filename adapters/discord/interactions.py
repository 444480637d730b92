"""Buttons, commands and forms: what Discord calls interactions. Wire to Signal, and the answers to them. Pure.

Each must be answered within 3 s, once; the answer's text is seen by one person alone. Nothing later rests on it: what
lasts is a message by the courier.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from adapters.discord.parse import CHANNEL, Me, actor_of
from adapters.discord.rooms import Place, place_of
from adapters.discord.snowflakes import made_at
from runtime.contract import (
    ARGUMENTS,
    COMMANDS,
    FORM_BEHIND,
    REASON,
    Addressing,
    Body,
    Choice,
    Clicked,
    Commanded,
    Field,
    Form,
    Identity,
    Said,
    Signal,
    Stopped,
    filled,
    fitting,
)

Raw = Mapping[str, Any]
Answer = Mapping[str, Any]

COMMAND, COMPONENT, TYPING, MODAL = 2, 3, 4, 5
MESSAGE, UPDATE_LATER, UPDATE, OFFERED, FORM = 4, 6, 7, 8, 9  # types of answers
PRIVATE: Final = 2000  # characters of an answer that one person sees
EPHEMERAL: Final = 1 << 6  # seen by one person alone
TEXT_INPUT, ACTION_ROW, SHORT, PARAGRAPH = 4, 1, 1, 2

ASK: Final = "ask"
WHY: Final = "why"
"""The field for a reason in forms that an older version opened."""
INPUT: Final = 4000  # characters of a field
FORM_TITLE, FORM_LABEL, FORM_HINT = 45, 45, 100  # characters. Source: discord.com/developers/docs/components, 2026-11
STRING: Final = 3  # an option that is text
PRIVATE_CHANNEL: Final = 2  # the context of a conversation of other people
GUILD_INSTALL, USER_INSTALL = "0", "1"


def payload(approval: str, choice: str) -> str:
    """Text that a button carries: at most 100 characters."""
    return f"{approval}:{choice}"


def opens_form(raw: Raw) -> tuple[str, Choice] | None:
    """The approval and the choice whose form is wanted; None for any other interaction."""
    approval, _, word = custom_id(raw).rpartition(":")
    choice = FORM_BEHIND.get(word) if raw["type"] == COMPONENT and approval else None
    return (approval, choice) if choice else None


def presser(raw: Raw) -> Identity:
    """The person who pressed it. Errors: KeyError, TypeError."""
    return actor_of(raw.get("user") or raw["member"]["user"])


def signal(raw: Raw, body: Body, place: Place, me: Me) -> Signal:
    """The Signal of an interaction that says `body` in `place`.

    Errors: KeyError, TypeError or ValueError when it is malformed.
    """
    user = raw.get("user") or raw["member"]["user"]
    number = str(raw["id"])
    return Signal(
        platform=me.platform,
        dedupe_key=f"i{number}",
        actor=actor_of(user),
        actor_name=str((raw.get("member") or {}).get("nick") or user.get("global_name") or user["username"]),
        address=place.address(CHANNEL, me.identity),
        body=body,
        received_at=made_at(number),
        reach=Addressing.MENTION if raw.get("guild_id") else Addressing.DIRECT,
        by_bot=bool(user.get("bot")),
        private=PRIVATE if raw.get("guild_id") else 0,
        alone=is_alone(raw),
        language="" if raw.get("guild_id") else str(raw.get("locale") or ""),
    )


def is_alone(raw: Raw) -> bool:
    """True if Discord vouches that only who pressed sees the message that was pressed."""
    return bool(int((raw.get("message") or {}).get("flags") or 0) & EPHEMERAL)


def place_told(raw: Raw) -> Place | None:
    """The place it came from, where Discord tells enough of it: that field is optional, and partial."""
    channel = raw.get("channel") or {}
    if "id" not in channel or "type" not in channel:
        return None
    place = place_of(channel)
    return place if place.parent or not place.is_thread else None


def is_elsewhere(raw: Raw) -> bool:
    """True if it comes from where the bot is not: conversations of others, and servers where one person alone has it."""
    owners = raw.get("authorizing_integration_owners") or {}
    by_its_user_alone = bool(raw.get("guild_id")) and USER_INSTALL in owners and GUILD_INSTALL not in owners
    return raw.get("context") == PRIVATE_CHANNEL or by_its_user_alone


def channel_id(raw: Raw) -> str:
    return str(raw.get("channel_id") or raw["channel"]["id"])


def body_of(raw: Raw) -> Body | None:
    """Read what somebody pressed, sent or called; None for what we never offered."""
    match raw["type"]:
        case 2:
            return commanded(raw["data"])
        case 3 | 5:
            return clicked(raw)
        case _:
            return None


def commanded(data: Raw) -> Body | None:
    name = str(data["name"])
    values = [str(option.get("value", "")) for option in data.get("options") or ()]
    if name == ASK:
        text = " ".join(values).strip()
        return Said(text) if text else None
    return Stopped() if name == "stop" else Commanded(name, " ".join(values).strip())


def clicked(raw: Raw) -> Clicked | None:
    """The pressed button, or the form behind it. The id may be forged: only its form is looked at here."""
    approval, colon, choice = custom_id(raw).rpartition(":")
    if not (approval and colon) or choice not in list(Choice):
        return None
    return filled(
        approval, Choice(choice), {REASON if name == WHY else name: text for name, text in typed(raw["data"])}
    )


def custom_id(raw: Raw) -> str:
    return str((raw.get("data") or {}).get("custom_id") or "")


def typed(data: Raw) -> Iterator[tuple[str, str]]:
    """Texts of a form's fields, by their names."""
    for row in data.get("components") or ():
        for one in [*(row.get("components") or ()), *filter(None, [row.get("component")])]:
            yield str(one.get("custom_id")), str(one.get("value") or "")


# ------------------------------------------------------------------------------------------------------- the answers


def told(text: str) -> Answer:
    """Words for this person alone. Mentions in them call nobody."""
    return {"type": MESSAGE, "data": {"content": text, "flags": EPHEMERAL, "allowed_mentions": {"parse": []}}}


def answer(raw: Raw, notice: str | None, *, decided: bool = False) -> Answer:
    """Answer to an interaction that was taken in. A press needs no words: the card changes.

    One that one person alone sees follows by no edit: there the words take its place, once something is `decided`.
    """
    if notice and decided and is_alone(raw):
        return {"type": UPDATE, "data": {"content": notice, "components": [], "allowed_mentions": {"parse": []}}}
    if notice:
        return told(notice)
    if raw["type"] != COMMAND:
        return {"type": UPDATE_LATER}
    asked = next((str(option.get("value", "")) for option in raw["data"].get("options") or ()), "")
    return told(f"You asked: {asked[:1800]}" if raw["data"]["name"] == ASK else "I'll answer here.")


def elsewhere() -> Answer:
    """For what comes from a place where we cannot write."""
    return told("I'm not part of this conversation. Write to me directly, or in a server that I'm in.")


def unread() -> Answer:
    """For what does not have the form that Discord documents."""
    return told("I couldn't read that. Please tell me in words what you need.")


def unknown(raw: Raw) -> Answer:
    """For a button or command that is not ours, or not any more. No choices are known while somebody types."""
    if raw["type"] == TYPING:
        return {"type": OFFERED, "data": {"choices": []}}
    return told("I no longer know this command." if raw["type"] == COMMAND else "I don't know this button.")


def form_answer(form: Form | str) -> Answer:
    """The form, or the words why there is none."""
    form = fitting(form, INPUT)
    if isinstance(form, str):
        return told(form)
    rows = [{"type": ACTION_ROW, "components": [_input(field)]} for field in form.fields]
    data = {"custom_id": payload(form.approval_id, form.choice), "title": form.title[:FORM_TITLE], "components": rows}
    return {"type": FORM, "data": data}


def _input(field: Field) -> Mapping[str, Any]:
    made = {
        "type": TEXT_INPUT,
        "style": PARAGRAPH if field.lines else SHORT,
        "custom_id": field.name,
        "label": field.label[:FORM_LABEL],
        "placeholder": (field.hint or " or ".join(field.options))[:FORM_HINT],
        "required": not field.optional,
        "max_length": min(field.most, INPUT),
    }
    return made | ({"value": field.text} if field.text else {})


# ------------------------------------------------------------------------------------------------------ the commands


def commands() -> list[Mapping[str, Any]]:
    """The application commands, for servers and for conversations with one person."""
    text = {"name": "text", "description": "Your question", "type": STRING, "required": True}
    ask = _command(ASK, "Ask me something", text)
    return [ask, *(_command(name, meaning, *_argument(name)) for name, meaning in COMMANDS.items())]


def _argument(name: str) -> list[Mapping[str, Any]]:
    meaning = ARGUMENTS.get(name)
    return [{"name": "value", "description": meaning[:100], "type": STRING, "required": False}] if meaning else []


def _command(name: str, meaning: str, *options: Mapping[str, Any]) -> Mapping[str, Any]:
    in_servers_and_alone = [0, 1]
    made = {"name": name, "description": meaning[:100], "type": 1, "contexts": in_servers_and_alone}
    return {**made, "integration_types": [0], "options": list(options)}


def is_registered(wanted: list[Mapping[str, Any]], there: Any) -> bool:
    """True if what Discord has is what we would register: then it is left alone."""
    kept = ("name", "description", "options")

    def brief(one: Raw) -> tuple[str, ...]:
        options = [
            tuple(str(option.get(k)) for k in ("name", "type", "required")) for option in one.get("options") or ()
        ]
        return (*(str(one.get(name)) for name in kept[:2]), str(options))

    return isinstance(there, list) and sorted(map(brief, wanted)) == sorted(map(brief, there))
