"""The page of one person: accounts, role, ways in, and what an owner may change; and what a merge would do."""

from __future__ import annotations

from typing import Final
from urllib.parse import quote

from aiohttp import web

from bot.console.html import Html, join, tag
from bot.console.layout import badge, facts, moment, nothing, page, table
from bot.console.people.pages import PEOPLE_PLACE, choice, place_of, role_option
from bot.operator.access.forgetting import OUTSIDE
from bot.operator.api import ROOT
from bot.operator.operations import Operations
from bot.operator.people import NOBODY_NAMED
from bot.operator.views import View
from runtime.contract import Role
from runtime.http.errors import Refusal
from runtime.text.naming import PERSON_NAME_MAX_CHARS
from runtime.text.words import marked, say

NAME_CHARS: Final = str(PERSON_NAME_MAX_CHARS)
EXPORT_WORDS: Final = marked(
    "A zip file with all that is kept of them: a file of lines for each table, and their files. The audit notes who asked."
)
REMOVE_WORDS: Final = marked("They become a stranger again. What they said stays in the conversations and the audit.")
FORGET_WORDS: Final = marked(
    "For good: what they wrote, what was answered to them, their conversations, files, memories, schedules and grants go. What this doesn't reach:"
)
LINK_WORDS: Final = marked(
    "A new link signs a browser in as {name}, such as that of their phone. Their old link stops working."
)
SIGN_OUT_WORDS: Final = marked("Everywhere at once: their link stops working, and pages that are open close.")
ROLE_WORDS: Final = marked(
    "A viewer reads, a user asks, an operator also approves and lets people in, an owner also manages people and settings."
)
MERGE_WORDS: Final = marked(
    "For two accounts of one human, such as Slack and this page. You see first what will happen."
)


async def person(request: web.Request, do: Operations) -> Html:
    everybody, name = await do.people(), request.match_info["id"]
    row = next((one for one in everybody if one["name"] == name), None)
    if row is None:
        raise Refusal(404, say(NOBODY_NAMED, name=name))
    is_owner = do.actor.person.role is Role.OWNER
    others = [one for one in everybody if one["name"] != name]
    about = facts(
        [
            (say("Role"), badge(row["role"])),
            (say("Identities"), ", ".join(row["identities"]) or "-"),
            (say("Web link"), say("yes") if row["linked"] else say("no")),
        ]
    )
    return page(
        name,
        PEOPLE_PLACE,
        tag("p", tag("a", say("All people"), href=PEOPLE_PLACE)),
        about,
        tag("h2", say("Signed in")),
        _sessions(row, await do.sessions(name), is_owner=is_owner),
        *(_changes(row, others) if is_owner else ()),
    )


def _sessions(row: View, sessions: list[View], *, is_owner: bool) -> Html:
    if not sessions:
        return nothing(say("{name} isn't signed in in any browser.", name=row["name"]))
    heads = (
        marked("Browser"),
        marked("Signed in by"),
        marked("Since"),
        marked("Last seen"),
        *([marked("Change")] if is_owner else []),
    )
    lines = (
        (
            one["browser"] or say("Unknown browser"),
            one["issuer"] or say("a link"),
            moment(one["since"]),
            moment(one["seen"]),
            *([_end_session(row["name"], one)] if is_owner else []),
        )
        for one in sessions
    )
    return table(say("Browsers"), heads, lines)


def _end_session(name: str, one: View) -> Html:
    key = tag("input", type="hidden", name="session", value=one["id"])
    return _change(
        name, "end-session", say("Sign out here"), key, ask=say("Sign {name} out in this browser?", name=name)
    )


def _changes(row: View, others: list[View]) -> list[Html]:
    name = row["name"]
    roles = (role_option(role, chosen=row["role"]) for role in Role)
    new = tag("input", **_field("new", say("New name")), maxlength=NAME_CHARS, required=True)
    return [
        tag("h2", say("Change")),
        _part(
            say("Role"),
            say(ROLE_WORDS),
            _change(name, "role", say("Set the role"), tag("select", *roles, **_field("role", say("Role")))),
        ),
        _part(say("Name"), None, _change(name, "rename", say("Rename"), new, then=f"{PEOPLE_PLACE}/{{name}}")),
        _part(say("Link"), say(LINK_WORDS, name=name), _change(name, "link", say("Make a new link"), link=True)),
        _part(
            say("Sign out"),
            say(SIGN_OUT_WORDS),
            _change(
                name,
                "sign-out",
                say("Sign out everywhere"),
                ask=say("Sign {name} out everywhere? Their link will stop working.", name=name),
            ),
        ),
        _part(say("Same person as…"), say(MERGE_WORDS), _merge_form(name, others)) if others else tag("p"),
        _part(
            say("Export"),
            say(EXPORT_WORDS),
            tag("a", say("Download all about {name}", name=name), href=f"{place_of(name)}/data.zip", download=True),
        ),
        *_endings(name, row["asked_to_go"]),
    ]


def _endings(name: str, asked_at: str | None) -> list[Html]:
    """Ways to take somebody away, the last for good."""
    once_more = join(
        [
            tag(
                "input",
                **_field("confirm", say("Write {name} once more", name=name)),
                maxlength=NAME_CHARS,
                required=True,
                data_same=name,
                aria_describedby="fault-confirm",
            ),
            tag("p", id="fault-confirm", class_="fault", data_fault="confirm"),
        ]
    )
    return [
        _part(
            say("Remove"),
            say(REMOVE_WORDS),
            _change(
                name,
                "remove",
                say("Remove"),
                ask=say("Remove {name}? They'll have to be let in again.", name=name),
                then=PEOPLE_PLACE,
            ),
        ),
        _part(
            say("Forget for good"),
            say(FORGET_WORDS),
            tag("p", say("{name} asked for it.", name=name), " ", moment(asked_at)) if asked_at else None,
            tag("ul", *(tag("li", say(place)) for place in OUTSIDE)),
            _change(
                name,
                "forget",
                say("Forget for good"),
                once_more,
                ask=say("Forget {name} and all that they wrote? This can't be undone.", name=name),
                then=PEOPLE_PLACE,
            ),
        ),
    ]


def _part(title: str, words: str | None, *content: Html | None) -> Html:
    told = tag("p", words, class_="faint") if words else None
    return tag("section", tag("h3", title), told, *content, class_="changes")


def _merge_form(name: str, others: list[View]) -> Html:
    """Leads to the page that tells what a merge would do."""
    options = (tag("option", say("Choose…"), value=""), *(choice(other) for other in others))
    return tag(
        "form",
        tag("select", *options, **_field("into", say("Same person as…")), required=True),
        tag("button", say("See what a merge would do"), type="submit"),
        method="get",
        action=f"{place_of(name)}/merge",
    )


def _merge_place(name: str, into: str) -> str:
    return f"{place_of(name)}/merge?into={quote(into, safe='')}"


async def merge(request: web.Request, do: Operations) -> Html:
    """The list of what will happen, and the button that does it."""
    name, into = request.match_info["id"], request.query.get("into", "")
    told = await do.merging(name, into)
    moved = [tag("li", row["words"]) for row in told["moves"]]
    title = say("Merge {name} into {into}", name=name, into=into)
    form = _change(name, "merge", title, tag("input", type="hidden", name="into", value=into), then=place_of(into))
    return page(
        title,
        PEOPLE_PLACE,
        tag("p", tag("a", say("Back to {name}", name=name), href=place_of(name))),
        tag(
            "p",
            tag(
                "a",
                say("The other way round: merge {name} into {into}", name=into, into=name),
                href=_merge_place(into, name),
            ),
        ),
        tag("h2", say("What becomes {into}'s", into=into)),
        tag("ul", *moved) if moved else nothing(say("Nothing: {name} has done nothing here yet.", name=name)),
        tag("h2", say("What else happens")),
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
