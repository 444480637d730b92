"""The account's own identity at Slack."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from adapters.slack.web import Answer, value
from runtime.contract import Address

TIMESTAMP: Final = re.compile(r"\d+\.\d+")


@dataclass(frozen=True, slots=True)
class BotUser:
    """The app's bot in one workspace: `team` T1, `user` U0BOT, `bot` B0BOT, and its `name`. `url` is the workspace's page."""

    team: str
    user: str
    bot: str
    name: str
    url: str = ""

    @classmethod
    def of(cls, told: Answer) -> BotUser:
        """Read the answer of auth.test. Errors: Uncertain."""
        user, team = value(told, "user_id"), value(told, "team_id")
        return cls(team, user, told.get("bot_id") or "", told.get("user") or "", told.get("url") or "")

    def link(self, address: Address, message: str) -> str:
        """The permalink of a message, as Slack makes them. Source: docs.slack.dev/reference/methods/chat.getPermalink, read 2026-11."""
        if not (self.url and TIMESTAMP.fullmatch(message)):
            return ""
        thread = f"?thread_ts={address.thread}&cid={address.room}" if address.thread not in ("", message) else ""
        return f"{self.url.rstrip('/')}/archives/{address.room}/p{message.replace('.', '')}{thread}"


NOBODY = BotUser("", "", "", "")
