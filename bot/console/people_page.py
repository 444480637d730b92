"""The page of people: who is known, who waits to be, and where an owner enters a pairing code."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote

from aiohttp import web

from bot.console.html import Html, tag
from bot.console.layout import badge, moment, nothing, page, table, where
from bot.console.pieces import cut, question
from bot.operator.api import ROOT
from bot.operator.operations import Operations
from bot.operator.views import View
from runtime.chat.pairing import LENGTH
from runtime.contract import ApprovalKind, Role

PLACE = "/console/people"


async def people(_request: web.Request, do: Operations) -> Html:
    known, waiting = await do.people(), await do.pairings()
    asked = [row for row in await do.approvals("pending") if row["kind"] == ApprovalKind.PERSON]
    return page(
        "People",
        PLACE,
        tag("h2", "Waiting to be paired"),
        *map(question, asked),
        _waiting(waiting),
        _form(),
        tag("h2", "Known"),
        _known(known, known if do.actor.person.role is Role.OWNER else ()),
    )


def _waiting(rows: list[View]) -> Html:
    if not rows:
        return nothing("Nobody has a pairing code right now.")
    heads = ("Name given", "Identity", "Room", "Since", "Until")
    lines = (
        (cut(row["name"]), tag("code", row["identity"]), where(row), moment(row["since"]), moment(row["until"]))
        for row in rows
    )
    return table("Waiting", heads, lines)


def stranger(row: View) -> Html:
    """Somebody who was sent a pairing code, on other pages than this."""
    return tag(
        "article",
        tag("h3", f"{cut(row['name']) or 'Somebody'} would like to be let in"),
        tag("p", tag("code", row["identity"]), ", in ", where(row)),
        tag("p", "Their pairing code works until ", moment(row["until"], exact=True), ".", class_="faint"),
        tag("p", tag("a", "Enter the code on the People page", href=PLACE)),
        class_="card",
    )


def _known(rows: list[View], others: Sequence[View]) -> Html:
    """With `others`, which is everybody, each row also has what an owner may change."""
    heads = ("Name", "Role", "Identities", "Web link", *(["Change"] if others else []))
    lines = (
        (
            row["name"],
            badge(row["role"]),
            ", ".join(row["identities"]),
            "yes" if row["linked"] else "no",
            *([_changes(row, others)] if others else []),
        )
        for row in rows
    )
    return table("People", heads, lines)


def _choice(row: View) -> Html:
    """A person to choose, told from others of a like name by role and identities."""
    more = ", ".join([row["role"], *row["identities"]])
    return tag("option", f"{row['name']} ({cut(more)})", value=row["name"])


def _changes(row: View, known: Sequence[View]) -> Html:
    name, place = row["name"], f"person-{quote(row['name'], safe='')}"
    others = [_choice(other) for other in known if other["name"] != name]
    return tag(
        "details",
        tag("summary", "Change", aria_label=f"Change {name}"),
        _change(name, "rename", "Rename", tag("input", **_field("new", "New name"), maxlength="100", required=True)),
        _change(
            name,
            "merge",
            "Merge",
            tag(
                "select",
                tag("option", "Choose…", value=""),
                *others,
                **_field("into", "Same person as…"),
                required=True,
            ),
            ask=f"Merge {name} with the person you chose? This can't be undone.",
        )
        if others
        else None,
        _change(name, "sign-out", "Sign out", ask=f"Sign {name} out everywhere? Their link will stop working.")
        if row["linked"]
        else None,
        _change(name, "remove", "Remove", ask=f"Remove {name}? They'll have to be let in again."),
        _change(
            name,
            "forget",
            "Forget for good",
            tag("input", **_field("confirm", f"Write {name} once more"), maxlength="100", required=True),
            ask=f"Forget {name} and all that they wrote? This can't be undone.",
        ),
        id=place,
        class_="changes",
    )


def _field(name: str, label: str) -> dict[str, str]:
    return {"name": name, "aria_label": label, "title": label, "placeholder": label, "autocomplete": "off"}


def _change(name: str, verb: str, label: str, field: Html | None = None, *, ask: str | None = None) -> Html:
    return tag(
        "form",
        field,
        tag("button", label, type="submit"),
        method="post",
        action=f"{ROOT}/people/{quote(name, safe='')}/{verb}",
        data_ask=ask,
    )


def _form() -> Html:
    """For owners; of others the answer says that it needs one."""
    return tag(
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
        class_="card",
    )
