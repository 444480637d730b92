"""The account's own identity at Slack."""

from __future__ import annotations

from dataclasses import dataclass

from adapters.slack.web import Answer, value


@dataclass(frozen=True, slots=True)
class BotUser:
    """The app's bot in one workspace: `team` T1, `user` U0BOT, `bot` B0BOT, and its `name`."""

    team: str
    user: str
    bot: str
    name: str

    @classmethod
    def of(cls, told: Answer) -> BotUser:
        """Read the answer of auth.test. Errors: Uncertain."""
        return cls(value(told, "team_id"), value(told, "user_id"), told.get("bot_id") or "", told.get("user") or "")


NOBODY = BotUser("", "", "", "")
