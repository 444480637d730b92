"""The page of one person: accounts, role, ways in, and what an owner may change; and what a merge would do."""

from __future__ import annotations

from typing import Final
from urllib.parse import quote

from aiohttp import web

from bot.console.html import Html, tag
from bot.console.layout import badge, facts, moment, nothing, page, table
from bot.console.people.pages import PEOPLE_PLACE, choice, place_of
from bot.operator.access.forgetting import OUTSIDE
from bot.operator.api import ROOT
from bot.operator.operations import Operations
from bot.operator.views import View
from runtime.contract import Role
from runtime.http.errors import Refusal
from runtime.text.naming import PERSON_NAME_MAX_CHARS

NAME_CHARS: Final = str(PERSON_NAME_MAX_CHARS)
EXPORT_WORDS: Final = "A zip file with all that is kept of them: a file of lines for each table, and their files. The audit notes who asked."
REMOVE_WORDS: Final = "They become a stranger again. What they said stays in the conversations and the audit."
FORGET_WORDS: Final = "For good: what they wrote, what was answered to them, their conversations, files, memories, schedules and grants go. What this doesn't reach:"
LINK_WORDS: Final = (
    "A new link signs a browser in as {name}, such as that of their phone. Their old link stops working."
)
SIGN_OUT_WORDS: Final = "Everywhere at once: their link stops working, and pages that are open close."
MERGE_WORDS: Final = "For two accounts of one human, such as Slack and this page. You see first what will happen."


async def person(request: web.Request, do: Operations) -> Html:
    everybody, name = await do.people(), request.match_info["id"]
    row = next((one for one in everybody if one["name"] == name), None)
    if row is None:
        raise Refusal(404, f'There is nobody named "{name}".')
    is_owner = do.actor.person.role is Role.OWNER
    others = [one for one in everybody if one["name"] != name]
    about = facts(
        [
            ("Role", badge(row["role"])),
            ("Identities", ", ".join(row["identities"]) or "-"),
            ("Web link", "yes" if row["linked"] else "no"),
        ]
    )
    return page(
        name,
        PEOPLE_PLACE,
        tag("p", tag("a", "All people", href=PEOPLE_PLACE)),
        about,
        tag("h2", "Signed in by a provider"),
        _sessions(row, await do.sessions(name), is_owner=is_owner),
        *(_changes(row, others) if is_owner else ()),
    )


def _sessions(row: View, sessions: list[View], *, is_owner: bool) -> Html:
    if not sessions:
        return nothing(f"{row['name']} isn't signed in by a provider.")
    heads = ("Signed in at", "Since", *(["Change"] if is_owner else []))
    lines = (
        (one["issuer"], moment(one["since"]), *([_end_session(row["name"], one)] if is_owner else []))
        for one in sessions
    )
    return table("Browsers", heads, lines)


def _end_session(name: str, one: View) -> Html:
    key = tag("input", type="hidden", name="session", value=one["id"])
    return _change(name, "end-session", "Sign out here", key, ask=f"Sign {name} out in this browser?")


def _changes(row: View, others: list[View]) -> list[Html]:
    name = row["name"]
    roles = (tag("option", role.word, selected=role.word == row["role"]) for role in Role)
    new = tag("input", **_field("new", "New name"), maxlength=NAME_CHARS, required=True)
    once_more = tag("input", **_field("confirm", f"Write {name} once more"), maxlength=NAME_CHARS, required=True)
    return [
        tag("h2", "Change"),
        _part("Role", None, _change(name, "role", "Set the role", tag("select", *roles, **_field("role", "Role")))),
        _part("Name", None, _change(name, "rename", "Rename", new, then=f"{PEOPLE_PLACE}/{{name}}")),
        _part("Link", LINK_WORDS.format(name=name), _change(name, "link", "Make a new link", link=True)),
        _part(
            "Sign out",
            SIGN_OUT_WORDS,
            _change(
                name,
                "sign-out",
                "Sign out everywhere",
                ask=f"Sign {name} out everywhere? Their link will stop working.",
            ),
        ),
        _part("Same person as…", MERGE_WORDS, _merge_form(name, others)) if others else tag("p"),
        _part(
            "Export",
            EXPORT_WORDS,
            tag("a", f"Download all about {name}", href=f"{place_of(name)}/data.zip", download=True),
        ),
        _part(
            "Remove",
            REMOVE_WORDS,
            _change(
                name, "remove", "Remove", ask=f"Remove {name}? They'll have to be let in again.", then=PEOPLE_PLACE
            ),
        ),
        _part(
            "Forget for good",
            FORGET_WORDS,
            tag("ul", *(tag("li", place) for place in OUTSIDE)),
            _change(
                name,
                "forget",
                "Forget for good",
                once_more,
                ask=f"Forget {name} and all that they wrote? This can't be undone.",
                then=PEOPLE_PLACE,
            ),
        ),
    ]


def _part(title: str, words: str | None, *content: Html) -> Html:
    told = tag("p", words, class_="faint") if words else None
    return tag("section", tag("h3", title), told, *content, class_="changes")


def _merge_form(name: str, others: list[View]) -> Html:
    """Leads to the page that tells what a merge would do."""
    options = (tag("option", "Choose…", value=""), *(choice(other) for other in others))
    return tag(
        "form",
        tag("select", *options, **_field("into", "Same person as…"), required=True),
        tag("button", "See what a merge would do", type="submit"),
        method="get",
        action=f"{place_of(name)}/merge",
    )


async def merge(request: web.Request, do: Operations) -> Html:
    """The list of what will happen, and the button that does it."""
    name, into = request.match_info["id"], request.query.get("into", "")
    told = await do.merging(name, into)
    moved = [tag("li", f"{row['count']:,} {row['what']}") for row in told["moves"]]
    title = f"Merge {name} into {into}"
    form = _change(name, "merge", title, tag("input", type="hidden", name="into", value=into), then=place_of(into))
    return page(
        title,
        PEOPLE_PLACE,
        tag("p", tag("a", f"Back to {name}", href=place_of(name))),
        tag("h2", f"What becomes {into}'s"),
        tag("ul", *moved) if moved else nothing(f"Nothing: {name} has done nothing here yet."),
        tag("h2", "What else happens"),
        tag("ul", *(tag("li", sentence) for sentence in told["stays"])),
        tag("div", form, class_="changes") if do.actor.person.role is Role.OWNER else None,
        refreshed=False,
    )


def _field(name: str, label: str) -> dict[str, str]:
    return {"name": name, "aria_label": label, "title": label, "placeholder": label, "autocomplete": "off"}


def _change(
    name: str,
    verb: str,
    label: str,
    field: Html | None = None,
    *,
    ask: str | None = None,
    then: str = "",
    link: bool = False,
) -> Html:
    return tag(
        "form",
        field,
        tag("button", label, type="submit"),
        method="post",
        action=f"{ROOT}/people/{quote(name, safe='')}/{verb}",
        data_ask=ask,
        data_then=then or None,
        data_link=link,
    )
