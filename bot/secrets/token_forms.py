"""What the tokens of chat platforms look like: enough to tell which is which, and that one was pasted whole. Pure.

Sources: core.telegram.org/bots/features, api.slack.com/concepts/token-types, discord.com/developers/docs/reference, read
2026-08. Forms may get longer: lengths are the least that each was seen with.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Final


class Token(StrEnum):
    """A kind of token, as people call it."""

    TELEGRAM = "a Telegram bot token"
    SLACK_BOT = "a Slack bot token"
    SLACK_APP = "a Slack app-level token"
    SLACK_USER = "a Slack user token"
    SLACK_CONFIGURATION = "a Slack app configuration token"
    SLACK_SIGNING = "a Slack signing secret"
    DISCORD = "a Discord bot token"


FORMS: Final[Mapping[Token, re.Pattern[str]]] = {
    Token.TELEGRAM: re.compile(r"\d{3,}:[A-Za-z0-9_-]{30,}"),
    Token.SLACK_BOT: re.compile(r"xoxb-[A-Za-z0-9-]{8,}"),
    Token.SLACK_APP: re.compile(r"xapp-[A-Za-z0-9-]{8,}"),
    Token.SLACK_USER: re.compile(r"xoxp-[A-Za-z0-9-]{8,}"),
    Token.SLACK_CONFIGURATION: re.compile(r"xoxe[.-][A-Za-z0-9.-]{8,}"),
    Token.SLACK_SIGNING: re.compile(r"[0-9a-f]{32}"),
    Token.DISCORD: re.compile(r"[A-Za-z0-9_-]{18,}\.[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{20,}"),
}
BEGINS: Final[Mapping[Token, re.Pattern[str]]] = {
    Token.TELEGRAM: re.compile(r"\d{3,}:"),
    Token.SLACK_BOT: re.compile(r"xoxb-"),
    Token.SLACK_APP: re.compile(r"xapp-"),
    Token.DISCORD: re.compile(r"[A-Za-z0-9_-]{18,}\."),
}
UNFORMED: Final = frozenset({Token.SLACK_SIGNING})
"""Nothing in these tells that they are no other secret: only what is surely something else is refused."""
LOOKS: Final[Mapping[Token, str]] = {
    Token.TELEGRAM: "digits, a colon and 35 characters, as @BotFather gives it",
    Token.SLACK_BOT: "it begins with xoxb- and is under OAuth & Permissions of the app",
    Token.SLACK_APP: "it begins with xapp- and is under Basic Information of the app, App-Level Tokens",
    Token.SLACK_SIGNING: "32 digits and letters a to f, under Basic Information of the app",
    Token.DISCORD: "three parts with dots between them, under Bot of the application",
}


def kind_of(text: str) -> Token | None:
    return next((kind for kind, form in FORMS.items() if form.fullmatch(text)), None)


def fault_of(text: str, wanted: Token) -> str | None:
    """What is wrong with `text` where `wanted` belongs, as what is expected; never the text itself."""
    kind = kind_of(text)
    if kind is wanted or (kind is None and wanted in UNFORMED):
        return None
    return f"{wanted} ({LOOKS[wanted]}){_instead(text, kind, wanted)}"


def _instead(text: str, kind: Token | None, wanted: Token) -> str:
    if kind is not None:
        return f"; this is {kind}"
    if text.lower().startswith(("bot ", "bearer ")):
        return "; leave out the word before it"
    if text != text.strip() or any(letter.isspace() for letter in text):
        return "; there are blanks or line ends in it"
    if wanted in BEGINS and BEGINS[wanted].match(text):
        return f"; this begins like one, but {len(text)} characters can't be all of it: copy it again"
    return ""
