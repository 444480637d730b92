"""The page of people: who is known, who waits to be, and where an owner invites somebody."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final
from urllib.parse import quote

from aiohttp import web

from bot.console.html import Html, tag
from bot.console.layout import badge, moment, nothing, page, table, where
from bot.console.people.invitations import invitations, invite_form
from bot.console.pieces import cut, question
from bot.operator.api import ROOT
from bot.operator.operations import Operations
from bot.operator.views import View
from runtime.chat.pairing import LENGTH
from runtime.contract import ApprovalKind, Role

PEOPLE_PLACE: Final = "/console/people"
NEW_PERSON: Final = "A new person"


async def people(_request: web.Request, do: Operations) -> Html:
    known, waiting, invited = await do.people(), await do.pairings(), await do.invitations()
    asked = [row for row in await do.approvals("pending") if row["kind"] == ApprovalKind.PERSON]
    is_owner = do.actor.person.role is Role.OWNER
    return page(
        "People",
        PEOPLE_PLACE,
        tag("h2", "Waiting to be let in"),
        *map(question, asked),
        _waiting(waiting, {row["run"] for row in asked}, known if is_owner else ()),
        _code_form() if is_owner else None,
        tag("h2", "Invitations"),
        invite_form() if is_owner else None,
        invitations(invited, is_owner=is_owner),
        tag("h2", "Known"),
        _known(known),
    )


def place_of(name: str) -> str:
    """Path of a person's page."""
    return f"{PEOPLE_PLACE}/{quote(name, safe='')}"


def _waiting(rows: list[View], asked: Collection[str], others: Sequence[View]) -> Html:
    """People who were sent a code. With `others`, an owner lets them in here; a card above asks about those in `asked`."""
    if not rows:
        return nothing("Nobody has a pairing code right now.")
    heads = ("Name given", "Identity", "Room", "Since", "Until", *(["Answer"] if others else []))
    lines = (
        (
            cut(row["name"]),
            tag("code", row["identity"]),
            where(row),
            moment(row["since"]),
            moment(row["until"]),
            *([_answer(row, others, is_asked=row["identity"] in asked)] if others else []),
        )
        for row in rows
    )
    return table("Waiting", heads, lines)


def _answer(row: View, others: Sequence[View], *, is_asked: bool) -> Html:
    """Buttons that let somebody in, as a new person or one we know, or refuse them."""
    called = cut(row["name"]) or row["identity"]
    api = f"{ROOT}/pairings/{quote(row['identity'], safe='')}"
    names = [tag("option", NEW_PERSON, value=""), *(choice(other) for other in others)]
    roles = [
        tag("option", "user", value=""),
        *(tag("option", role.word) for role in Role if role not in (Role.USER, Role.OWNER)),
    ]
    return tag(
        "details",
        tag("summary", "Accept or refuse", aria_label=f"Accept or refuse {called}"),
        tag("p", "You can also answer the card above.", class_="faint") if is_asked else None,
        tag(
            "form",
            tag("select", *names, name="name", aria_label=f"Who {called} is"),
            tag("select", *roles, name="role", aria_label=f"Role of {called}, if they're new"),
            tag("button", "Accept", type="submit", class_="main"),
            method="post",
            action=f"{api}/accept",
        ),
        tag(
            "form",
            tag("button", "Refuse", type="submit"),
            method="post",
            action=f"{api}/refuse",
            data_ask=f"Refuse {called}? They're told so, and nobody is asked about them for a day.",
        ),
        id=f"waits-{quote(row['identity'], safe='')}",
        class_="changes",
    )


def stranger(row: View) -> Html:
    """Somebody who was sent a pairing code, on other pages than this."""
    return tag(
        "article",
        tag("h3", f"{cut(row['name']) or 'Somebody'} would like to be let in"),
        tag("p", tag("code", row["identity"]), ", in ", where(row)),
        tag("p", "Their pairing code works until ", moment(row["until"], exact=True), ".", class_="faint"),
        tag("p", tag("a", "Answer on the People page", href=PEOPLE_PLACE)),
        class_="card",
    )


def _known(rows: list[View]) -> Html:
    lines = (
        (
            tag("a", row["name"], href=place_of(row["name"])),
            badge(row["role"]),
            ", ".join(row["identities"]),
            "yes" if row["linked"] else "no",
        )
        for row in rows
    )
    return table("People", ("Name", "Role", "Identities", "Web link"), lines)


def choice(row: View) -> Html:
    """A person to choose, told from others of a like name by role and identities."""
    more = ", ".join([row["role"], *row["identities"]])
    return tag("option", f"{row['name']} ({cut(more)})", value=row["name"])


def _code_form() -> Html:
    """For somebody who told their code in some other way than by a name that an owner trusts."""
    form = tag(
        "form",
        tag("label", "Pairing code", for_="code"),
        tag("input", id="code", name="code", maxlength=str(2 * LENGTH), required=True, autocomplete="off"),
        tag("label", "Name (optional; a known name adds this account to that person)", for_="name"),
        tag("input", id="name", name="name", maxlength="100", autocomplete="off"),
        tag("label", "Role (optional; a new person becomes a user)", for_="role"),
        tag(
            "select", tag("option", "-", value=""), *(tag("option", role.word) for role in Role), id="role", name="role"
        ),
        tag("div", tag("button", "Pair", type="submit", class_="main"), class_="buttons"),
        method="post",
        action=f"{ROOT}/pairings",
    )
    return tag("details", tag("summary", "Enter a pairing code"), form, id="enter-code", class_="card")
