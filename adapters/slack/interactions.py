"""Buttons, forms and slash commands: what people do with more than words."""

from __future__ import annotations

import json
from typing import Final

from adapters.slack.envelope import Happening, Malformed, Raw, mapping
from adapters.slack.messages import ordered
from adapters.slack.text import readable
from runtime.contract import (
    COMMANDS,
    FORM_BEHIND,
    Address,
    Addressing,
    ApprovalId,
    Body,
    Choice,
    Clicked,
    Signal,
    filled,
)

BUTTON: Final = "signalbox:"
"""Begins the action_id of each button of ours."""
FORM_CALLBACK: Final = "signalbox:form"
"""The callback_id of each form of ours; an input has the field's name for its block and its action."""
DENIAL: Final = "signalbox:denial"
"""That of the form for a reason before there were others: one may be open while a node is upgraded."""


def click(happened: Happening) -> Signal | None:
    """None for a button that is none of ours."""
    action = _our_action(happened.body)
    if action is None:
        return None
    approval, choice = _value(action)
    clicked = Clicked(ApprovalId(approval), Choice(choice))
    alone = is_alone(happened.body)
    return _meant(happened, happened.body["trigger_id"], card_address(happened), clicked, alone=alone)


def form_wanted(body: Raw) -> tuple[str, Choice] | None:
    """The approval and the choice whose form a pressed button opens; None for every other press. Errors: Malformed."""
    try:
        action = _our_action(body)
        approval, word = _value(action) if action else ("", "")
    except (KeyError, TypeError, AttributeError) as error:
        raise Malformed(f"{type(error).__name__}: {error}") from error
    choice = FORM_BEHIND.get(word)
    return (approval, choice) if choice else None


def _our_action(body: Raw) -> Raw | None:
    return next((one for one in body["actions"] if str(one.get("action_id")).startswith(BUTTON)), None)


def _value(action: Raw) -> tuple[str, str]:
    """The approval's id, as it came, and the word for the choice."""
    approval, _, word = str(action["value"]).rpartition(":")
    return approval, word


def is_alone(body: Raw) -> bool:
    """True if Slack vouches that only who pressed sees what was pressed: an ephemeral message, or the home of the app."""
    return mapping(body.get("container")).get("is_ephemeral") is True or is_home(body)


def is_home(body: Raw) -> bool:
    return mapping(body.get("view")).get("type") == "home"


def card_address(happened: Happening) -> Address:
    """Address of the card whose button was pressed. A home carries that of the direct messages beside it.

    Errors: KeyError, ValueError.
    """
    body = happened.body
    if is_home(body):
        room = str(json.loads(body["view"]["private_metadata"])["room"])
        if not room.startswith("D"):
            raise ValueError("a home stands beside direct messages")
        return happened.address(room)
    container, message = mapping(body.get("container")), mapping(body.get("message"))
    room = mapping(body.get("channel")).get("id") or container["channel_id"]
    return happened.address(str(room), str(message.get("thread_ts") or container.get("thread_ts") or ""))


def form(happened: Happening) -> Signal | None:
    """A form was sent; None for one that is none of ours. It may be sent again with other words, so its id is no key."""
    view = happened.body["view"]
    if view.get("callback_id") not in (FORM_CALLBACK, DENIAL):
        return None
    about, key = json.loads(view["private_metadata"]), f"v{view['id']}"
    if trigger := happened.body.get("trigger_id"):
        key = f"{key}:{trigger}"
    typed = {str(name): _typed(block[name]) for name, block in view["state"]["values"].items()}
    clicked = filled(str(about["approval"]), Choice(about.get("choice", Choice.DENY)), typed)
    address, alone = happened.address(str(about["room"]), str(about["thread"])), about.get("alone") is True
    return _meant(happened, key, address, clicked, alone=alone)


def _typed(element: Raw) -> str:
    """Words of an input, or the option that was picked."""
    picked = mapping(element.get("selected_option")).get("value")
    return str(element.get("value") or picked or "")


def command(happened: Happening) -> Signal:
    """`/signalbox status`, or `/status` where an operator gave us a command of that name."""
    body = happened.body
    name = str(body["command"]).lstrip("/").lower()
    argument = readable(str(body.get("text") or ""), happened.me)
    if name not in COMMANDS:
        name, _, argument = argument.partition(" ")
    said = ordered(name.lower() or "help", argument.strip())
    return _meant(happened, body["trigger_id"], happened.address(str(body["channel_id"])), said)


def _meant(happened: Happening, key: object, address: Address, said: Body, *, alone: bool = False) -> Signal:
    """Signal of a button, a form or a command, which is always meant for us."""
    reach = Addressing.DIRECT if address.room.startswith("D") else Addressing.MENTION
    return happened.signal(key, address, said, reach=reach, alone=alone)
