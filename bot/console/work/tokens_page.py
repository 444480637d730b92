"""The page of tokens: which programs may speak, when each did last, and where an owner makes and revokes them."""

from __future__ import annotations

from typing import Final
from urllib.parse import quote

from aiohttp import web

from bot.console.html import Html, tag, with_code
from bot.console.layout import badge, moment, nothing, page, table
from bot.operator.api import ROOT
from bot.operator.operations import Operations
from bot.operator.views import View
from runtime.contract import Role
from runtime.text.words import marked, say

TOKENS_PLACE: Final = "/console/tokens"
TOKEN_HEADS: Final = (
    marked("Program"),
    marked("Role"),
    marked("Agents"),
    marked("Rooms"),
    marked("A minute"),
    marked("Last use"),
    marked("Until"),
)
DAY_CHARS: Final = 10
HOW_TO_MAKE: Final = marked("There are no tokens. An owner makes one: `signalbox tokens make NAME`.")
MADE_ELSEWHERE: Final = marked(
    "A token is made on the command line, where it's shown once: `signalbox tokens make NAME`."
)


async def tokens(_request: web.Request, do: Operations) -> Html:
    rows, is_owner = await do.tokens(), do.actor.person.role is Role.OWNER
    heads = (*TOKEN_HEADS, *([marked("Change")] if is_owner else []))
    lines = ((*_line(row), *([_revoke(row)] if is_owner else [])) for row in rows)
    return page(
        say("Tokens"),
        TOKENS_PLACE,
        table(say("Tokens"), heads, lines) if rows else nothing(say(HOW_TO_MAKE)),
        tag("p", *with_code(say(MADE_ELSEWHERE)), class_="faint") if rows else None,
    )


def _line(row: View) -> tuple[str | Html, ...]:
    return (
        tag("span", row["name"], title=say("Made by {made_by}", made_by=row["made_by"])),
        tag("span", badge(row["role"]), *([] if row["state"] == "valid" else [" ", badge(row["state"])])),
        ", ".join(row["agents"]) or say("all"),
        ", ".join(row["rooms"]) or (say("all") if row["role"] == Role.OPERATOR.word else say("its own")),
        str(row["per_minute"]),
        moment(row["used_at"]) if row["used_at"] else say("never"),
        row["until"][:DAY_CHARS] if row["until"] else say("for good"),
    )


def _revoke(row: View) -> Html | str:
    if row["state"] != "valid":
        return ""
    return tag(
        "form",
        tag("button", say("Revoke"), type="submit"),
        method="post",
        action=f"{ROOT}/tokens/{quote(row['name'], safe='')}/revoke",
        data_ask=say("Revoke the token {name}? Its program will be let in no more.", name=row["name"]),
    )
