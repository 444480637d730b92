"""The page of people: who is known, who waits to be, and where an owner enters a pairing code."""

from __future__ import annotations

from aiohttp import web

from bot.console.api import ROOT
from bot.console.html import Html, tag
from bot.console.layout import badge, moment, nothing, page, table
from bot.console.operations import Operations
from bot.console.views import View
from runtime.contract import Role
from runtime.pairing import LENGTH

PLACE = "/console/people"


async def people(_request: web.Request, do: Operations) -> Html:
    known, waiting = await do.people(), await do.pairings()
    return page(
        "People",
        PLACE,
        tag("h2", "Waiting to be paired"),
        _waiting(waiting),
        _form(),
        tag("h2", "Known"),
        _known(known),
    )


def _waiting(rows: list[View]) -> Html:
    if not rows:
        return nothing("Nobody has a pairing code right now.")
    heads = ("Calls themselves", "Identity", "Room", "Since", "Until")
    lines = (
        (row["name"], tag("code", row["identity"]), row["address"], moment(row["since"]), moment(row["until"]))
        for row in rows
    )
    return table("Waiting", heads, lines)


def _known(rows: list[View]) -> Html:
    heads = ("Name", "Role", "Identities", "Web link")
    lines = (
        (row["name"], badge(row["role"]), ", ".join(row["identities"]), "yes" if row["linked"] else "no")
        for row in rows
    )
    return table("People", heads, lines)


def _form() -> Html:
    """For owners; of others the answer says that it needs one."""
    return tag(
        "form",
        tag("label", "Pairing code", for_="code"),
        tag("input", id="code", name="code", maxlength=str(2 * LENGTH), required=True, autocomplete="off"),
        tag("label", "Name (optional; of somebody known: this is an account of theirs too)", for_="name"),
        tag("input", id="name", name="name", maxlength="100", autocomplete="off"),
        tag("label", "Role (a new person is a user without one)", for_="role"),
        tag(
            "select", tag("option", "-", value=""), *(tag("option", role.word) for role in Role), id="role", name="role"
        ),
        tag("div", tag("button", "Pair", type="submit", class_="main"), class_="buttons"),
        method="post",
        action=f"{ROOT}/pairings",
        class_="card",
    )
