"""The language of a person's own app, as platforms tell it with what they say where nobody else reads."""

from __future__ import annotations

from typing import Any

import pytest
from telegram import Chat, User

from adapters.discord.interactions import signal
from adapters.discord.parse import Me
from adapters.discord.rooms import place_of
from adapters.telegram.parse import language_of
from runtime.contract import Commanded

ADA = {"id": "43", "username": "ada"}


@pytest.mark.parametrize(
    ("kind", "tag", "heard"), [("private", "de-AT", "de-AT"), ("private", None, ""), ("group", "de", "")]
)
def test_telegram_tells_it_in_a_private_chat_alone(kind: str, tag: str | None, heard: str) -> None:
    assert language_of(Chat(1, kind), User(1, "Ada", is_bot=False, language_code=tag)) == heard


@pytest.mark.parametrize(
    ("more", "heard"),
    [
        ({"user": ADA, "locale": "de"}, "de"),
        ({"user": ADA}, ""),
        ({"member": {"user": ADA}, "guild_id": "7", "locale": "de"}, ""),
    ],
)
def test_discord_tells_it_with_what_is_pressed_in_a_direct_message(more: dict[str, Any], heard: str) -> None:
    raw = {"id": "1290000000000000000", "type": 2, "data": {"name": "help"}, **more}
    assert signal(raw, Commanded("help", ""), place_of({"id": "9", "type": 1}), Me("1")).language == heard
