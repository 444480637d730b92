"""The page of people: who is known, who waits to be, and where an owner invites somebody."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final
from urllib.parse import quote

from aiohttp import web

from bot.console.html import Html, filled, tag
from bot.console.layout import badge, moment, nothing, page, table, where
from bot.console.people.invitations import invitations, invite_form
from bot.console.pieces import cut, question
from bot.operator.api import ROOT
from bot.operator.operations import Operations
from bot.operator.views import View
from runtime.chat.pairing import LENGTH
from runtime.contract import ApprovalKind, Role
from runtime.text.words import marked, say

PEOPLE_PLACE: Final = "/console/people"
NEW_PERSON: Final = marked("A new person")
WAITING_HEADS: Final = (marked("Name given"), marked("Identity"), marked("Room"), marked("Since"), marked("Until"))
PEOPLE_HEADS: Final = (marked("Name"), marked("Role"), marked("Identities"), marked("Web link"))


async def people(_request: web.Request, do: Operations) -> Html:
    known, waiting, invited = await do.people(), await do.pairings(), await do.invitations()
    asked = [row for row in await do.approvals("pending") if row["kind"] == ApprovalKind.PERSON]
    is_owner = do.actor.person.role is Role.OWNER
    return page(
        say("People"),
        PEOPLE_PLACE,
        tag("h2", say("Waiting to be let in")),
        *map(question, asked),
        _waiting(waiting, {row["run"] for row in asked}, known if is_owner else ()),
        _code_form() if is_owner else None,
        tag("h2", say("Invitations")),
        invite_form() if is_owner else None,
        invitations(invited, is_owner=is_owner),
        tag("h2", say("Known")),
        _known(known),
    )


def place_of(name: str) -> str:
    """Path of a person's page."""
    return f"{PEOPLE_PLACE}/{quote(name, safe='')}"


def _waiting(rows: list[View], asked: Collection[str], others: Sequence[View]) -> Html:
    """People who were sent a code. With `others`, an owner lets them in here; a card above asks about those in `asked`."""
    if not rows:
        return nothing(say("Nobody has a pairing code right now."))
    heads = (*WAITING_HEADS, *([marked("Answer")] if others else []))
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
    return table(say("Waiting"), heads, lines)


def _answer(row: View, others: Sequence[View], *, is_asked: bool) -> Html:
    """Buttons that let somebody in, as a new person or one we know, or refuse them."""
    called = cut(row["name"]) or row["identity"]
    api = f"{ROOT}/pairings/{quote(row['identity'], safe='')}"
    names = [tag("option", say(NEW_PERSON), value=""), *(choice(other) for other in others)]
    roles = [
        tag("option", say("user"), value=""),
        *(role_option(role) for role in Role if role not in (Role.USER, Role.OWNER)),
    ]
    return tag(
        "details",
        tag("summary", say("Accept or refuse"), aria_label=say("Accept or refuse {called}", called=called)),
        tag("p", say("You can also answer the card above."), class_="faint") if is_asked else None,
        tag(
            "form",
            tag("select", *names, name="name", aria_label=say("Who {called} is", called=called)),
            tag("select", *roles, name="role", aria_label=say("Role of {called}, if they're new", called=called)),
            tag("button", say("Accept"), type="submit", class_="main"),
            method="post",
            action=f"{api}/accept",
        ),
        tag(
            "form",
            tag("button", say("Refuse"), type="submit"),
            method="post",
            action=f"{api}/refuse",
            data_ask=say("Refuse {called}? They're told so, and nobody is asked about them for a day.", called=called),
        ),
        id=f"waits-{quote(row['identity'], safe='')}",
        class_="changes",
    )


def stranger(row: View) -> Html:
    """Somebody who was sent a pairing code, on other pages than this."""
    return tag(
        "article",
        tag("h3", say("{name} would like to be let in", name=cut(row["name"]) or say("Somebody"))),
        tag("p", *filled(say("{identity}, in {room}"), identity=tag("code", row["identity"]), room=where(row))),
        tag(
            "p",
            *filled(say("Their pairing code works until {until}."), until=moment(row["until"], exact=True)),
            class_="faint",
        ),
        tag("p", tag("a", say("Answer on the People page"), href=PEOPLE_PLACE)),
        class_="card",
    )


def _known(rows: list[View]) -> Html:
    lines = (
        (
            tag("div", tag("a", row["name"], href=place_of(row["name"])), _wish(row)),
            badge(row["role"]),
            ", ".join(row["identities"]),
            say("yes") if row["linked"] else say("no"),
        )
        for row in rows
    )
    return table(say("People"), PEOPLE_HEADS, lines)


def _wish(row: View) -> Html | None:
    """The wish to be forgotten, with its time."""
    if not row["asked_to_go"]:
        return None
    return tag("p", *filled(say("Asks to be forgotten, {time}."), time=moment(row["asked_to_go"])), class_="faint")


def role_option(role: Role, *, chosen: str = "") -> Html:
    """A role to choose: said in the reader's language, sent as it is."""
    return tag("option", say(role.word), value=role.word, selected=role.word == chosen)


def choice(row: View) -> Html:
    """A person to choose, told from others of a like name by role and identities."""
    more = ", ".join([say(row["role"]), *row["identities"]])
    return tag("option", f"{row['name']} ({cut(more)})", value=row["name"])


def _code_form() -> Html:
    """For somebody who told their code in some other way than by a name that an owner trusts."""
    form = tag(
        "form",
        tag("label", say("Pairing code"), for_="code"),
        tag("input", id="code", name="code", maxlength=str(2 * LENGTH), required=True, autocomplete="off"),
        tag("label", say("Name (optional; a known name adds this account to that person)"), for_="name"),
        tag("input", id="name", name="name", maxlength="100", autocomplete="off"),
        tag("label", say("Role (optional; a new person becomes a user)"), for_="role"),
        tag("select", tag("option", "-", value=""), *map(role_option, Role), id="role", name="role"),
        tag("div", tag("button", say("Pair"), type="submit", class_="main"), class_="buttons"),
        method="post",
        action=f"{ROOT}/pairings",
    )
    return tag("details", tag("summary", say("Enter a pairing code")), form, id="enter-code", class_="card")
