"""Invitations on the page of people: made by owners, with a link and a code that are shown once."""

from __future__ import annotations

from typing import Final
from urllib.parse import quote

from bot.console.html import Html, tag
from bot.console.layout import badge, moment, nothing, table
from bot.operator.api import ROOT
from bot.operator.views import View
from runtime.text.words import marked, say

INVITED_ROLES: Final = ("user", "viewer", "operator")
INVITATION_LIVES: Final = {
    "1h": marked("one hour"),
    "1d": marked("one day"),
    "7d": marked("a week"),
    "30d": marked("30 days"),
}
USUAL_LIFE: Final = "1d"
INVITATION_HEADS: Final = (marked("Role"), marked("State"), marked("Until"), marked("Made by"), marked("Who joined"))


def invite_form() -> Html:
    """One press makes a link; the script shows it with its code, and nothing keeps it."""
    roles = (tag("option", say(role), value=role) for role in INVITED_ROLES)
    lives = (
        tag("option", say(words), value=life, selected=life == USUAL_LIFE) for life, words in INVITATION_LIVES.items()
    )
    return tag(
        "form",
        tag("label", say("Role"), tag("select", *roles, name="role")),
        tag("label", say("Works for"), tag("select", *lives, name="until")),
        tag("button", say("Make an invitation"), type="submit", class_="main"),
        method="post",
        action=f"{ROOT}/invitations",
        class_="filter",
        data_link=True,
    )


def invitations(rows: list[View], *, is_owner: bool) -> Html:
    if not rows:
        return nothing(
            say("Nobody is invited. An invitation is a link, or a code for a phone's camera, that lets one person in.")
        )
    heads = (*INVITATION_HEADS, *([marked("Change")] if is_owner else []))
    return table(say("Invitations"), heads, ((*_line(row), *([_revoke(row)] if is_owner else [])) for row in rows))


def _line(row: View) -> tuple[str | Html, ...]:
    return badge(row["role"]), badge(row["state"]), moment(row["until"]), row["made_by"], row["joined"] or "-"


def _revoke(row: View) -> Html | str:
    if row["state"] != "open":
        return ""
    return tag(
        "form",
        tag(
            "button",
            say("Revoke"),
            type="submit",
            aria_label=say("Revoke the invitation as {role}", role=say(row["role"])),
        ),
        method="post",
        action=f"{ROOT}/invitations/{quote(row['id'], safe='')}/revoke",
        data_ask=say("Revoke this invitation? Its link will let nobody in."),
    )
