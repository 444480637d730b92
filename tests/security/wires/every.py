"""All wires, by their names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Final

from tests.fakes.ports import free_port
from tests.security.wires.discord import discord
from tests.security.wires.page import page
from tests.security.wires.slack import slack
from tests.security.wires.telegram import telegram
from tests.security.wires.wire import Wire

WIRES: Final[Mapping[str, Callable[[], AbstractAsyncContextManager[Wire]]]] = {
    "slack-socket": lambda: slack("socket"),
    "slack-http": lambda: slack("http"),
    "telegram": telegram,
    "telegram-webhook": lambda: telegram(free_port()),
    "discord": discord,
    "web": page,
}
