"""Invitations on the page of people: made by owners, with a link and a code that are shown once."""

from __future__ import annotations

from typing import Final
from urllib.parse import quote

from bot.console.html import Html, tag
from bot.console.layout import badge, moment, nothing, table
from bot.operator.api import ROOT
from bot.operator.views import View

INVITED_ROLES: Final = ("user", "viewer", "operator")
INVITATION_LIVES: Final = {"1h": "one hour", "1d": "one day", "7d": "a week", "30d": "30 days"}
USUAL_LIFE: Final = "1d"
INVITATION_HEADS: Final = ("Role", "State", "Until", "Made by", "Who joined")


def invite_form() -> Html:
    """One press makes a link; the script shows it with its code, and nothing keeps it."""
    roles = (tag("option", role) for role in INVITED_ROLES)
    lives = (tag("option", words, value=life, selected=life == USUAL_LIFE) for life, words in INVITATION_LIVES.items())
    return tag(
        "form",
        tag("label", "Role", tag("select", *roles, name="role")),
        tag("label", "Works for", tag("select", *lives, name="until")),
        tag("button", "Make an invitation", type="submit", class_="main"),
        method="post",
        action=f"{ROOT}/invitations",
        class_="filter",
        data_link=True,
    )


def invitations(rows: list[View], *, is_owner: bool) -> Html:
    if not rows:
        return nothing(
            "Nobody is invited. An invitation is a link, or a code for a phone's camera, that lets one person in."
        )
    heads = (*INVITATION_HEADS, *(["Change"] if is_owner else []))
    return table("Invitations", heads, ((*_line(row), *([_revoke(row)] if is_owner else [])) for row in rows))


def _line(row: View) -> tuple[str | Html, ...]:
    return badge(row["role"]), badge(row["state"]), moment(row["until"]), row["made_by"], row["joined"] or "-"


def _revoke(row: View) -> Html | str:
    if row["state"] != "open":
        return ""
    return tag(
        "form",
        tag("button", "Revoke", type="submit", aria_label=f"Revoke the invitation for one {row['role']}"),
        method="post",
        action=f"{ROOT}/invitations/{quote(row['id'], safe='')}/revoke",
        data_ask="Revoke this invitation? Its link will let nobody in.",
    )
