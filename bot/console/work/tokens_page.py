"""The page of tokens: which programs may speak, when each did last, and where an owner makes and revokes them."""

from __future__ import annotations

from typing import Final
from urllib.parse import quote

from aiohttp import web

from bot.console.html import Html, tag
from bot.console.layout import badge, moment, nothing, page, table
from bot.operator.api import ROOT
from bot.operator.operations import Operations
from bot.operator.views import View
from runtime.contract import Role

TOKENS_PLACE: Final = "/console/tokens"
TOKEN_HEADS: Final = ("Program", "Role", "Agents", "Rooms", "A minute", "Last use", "Until")
DAY_CHARS: Final = 10
HOW_TO_MAKE: Final = "There are no tokens. An owner makes one: signalbox tokens make NAME"
MADE_ELSEWHERE: Final = "A token is made on the command line, where it's shown once: signalbox tokens make NAME"


async def tokens(_request: web.Request, do: Operations) -> Html:
    rows, is_owner = await do.tokens(), do.actor.person.role is Role.OWNER
    heads = (*TOKEN_HEADS, *(["Change"] if is_owner else []))
    lines = ((*_line(row), *([_revoke(row)] if is_owner else [])) for row in rows)
    return page(
        "Tokens",
        TOKENS_PLACE,
        table("Tokens", heads, lines) if rows else nothing(HOW_TO_MAKE),
        tag("p", MADE_ELSEWHERE, class_="faint") if rows else None,
    )


def _line(row: View) -> tuple[str | Html, ...]:
    return (
        tag("span", row["name"], title=f"Made by {row['made_by']}"),
        tag("span", badge(row["role"]), *([] if row["state"] == "valid" else [" ", badge(row["state"])])),
        ", ".join(row["agents"]) or "all",
        ", ".join(row["rooms"]) or ("all" if row["role"] == Role.OPERATOR.word else "its own"),
        str(row["per_minute"]),
        moment(row["used_at"]) if row["used_at"] else "never",
        row["until"][:DAY_CHARS] if row["until"] else "for good",
    )


def _revoke(row: View) -> Html | str:
    if row["state"] != "valid":
        return ""
    return tag(
        "form",
        tag("button", "Revoke", type="submit"),
        method="post",
        action=f"{ROOT}/tokens/{quote(row['name'], safe='')}/revoke",
        data_ask=f"Revoke the token {row['name']}? Its program will be let in no more.",
    )
