"""A table of settings as a form: what stands in the file, what may be changed, and the reason where it may not."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import Any, Final
from urllib.parse import quote

from aiohttp import web

from bot.console.html import Html, tag, with_code
from bot.console.layout import facts, nothing, page
from bot.console.settings.pages import OWNERS_ONLY, SETTINGS_PLACE, notices, place_of, said_value
from bot.operator.api import ROOT
from bot.operator.operations import Operations
from bot.operator.views import View
from runtime.text.glyphs import legible, visible
from runtime.text.words import marked, say

CONFIRM_WORDS: Final = marked(
    "Before anything is saved, show once more that it's you: paste your link here, or open it in this browser. That holds for ten "
    "minutes. If you no longer have it, `signalbox people link {name}` on the machine makes a new one."
)
NO_RULES: Final = marked(
    "There are none of yours. Built-in rules hold: what only reads is allowed, and what changes something is asked about first."
)
ADD: Final = "add"
ADD_WORDS: Final = {
    "models": marked("Add a model"),
    "policy": marked("Add a rule"),
    "rooms": marked("Add a room"),
    "schedules": marked("Add a schedule"),
}
BY_A_RELOAD: Final = "at once"
FIELD_LINES: Final = {"long text": "8", "list of texts": "4"}
HINTS: Final = {
    "list of texts": marked("One on each line."),
    "as TOML writes it": marked('As TOML writes it, such as [24, 48] or {url = {host = ["example.org"]}}.'),
}


async def setting(request: web.Request, do: Operations) -> Html:
    name = request.match_info["id"]
    told = await do.setting(name)
    is_new = told["is_list"] and ADD in request.query
    title = _add_words(name) if is_new else name
    return page(
        title,
        SETTINGS_PLACE,
        tag("p", tag("a", say("All settings"), href=SETTINGS_PLACE)),
        tag("p", *with_code(told["about"])) if told["about"] else None,
        *notices(told),
        None if told["may_edit"] else tag("p", say(OWNERS_ONLY), class_="faint"),
        *(_list(told) if told["is_list"] and not is_new else _form(told, is_new=is_new)),
        *confirmation(told, do.actor.person.name),
        refreshed=False,
        script="settings.js",
        style="settings.css",
    )


def confirmation(told: View, me: str) -> Iterator[Html]:
    """The form that confirms a session; it is shown once somebody wants to save."""
    if not told["may_edit"]:
        return
    back = quote(place_of(told["name"]), safe="")
    again = (
        tag(
            "p",
            tag(
                "a",
                say("Or sign in again at {provider}, in a new tab", provider=told["provider"]),
                href=f"/sign-in?again=1&next={back}",
                target="_blank",
            ),
        )
        if told["provider"]
        else None
    )
    yield tag(
        "form",
        tag("h2", say("Is it you?")),
        tag("p", *with_code(say(CONFIRM_WORDS, name=shlex.quote(me)))),
        tag("label", say("Your link"), for_="own-link"),
        tag("input", id="own-link", name="link", type="password", autocomplete="off", required=True),
        again,
        tag("div", tag("button", say("Confirm"), type="submit"), class_="buttons"),
        method="post",
        action=f"{ROOT}/confirmation",
        class_="card",
        id="confirmation",
        data_confirms=True,
        hidden=told["confirmed_seconds"] > 0,
    )


def _add_words(name: str) -> str:
    return say(ADD_WORDS[name]) if name in ADD_WORDS else say("Add a table to {name}", name=name)


def _list(told: View) -> Iterator[Html]:
    """The tables of a list, each with what may be done with it."""
    name = told["name"]
    if not told["tables"]:
        yield nothing(say(NO_RULES) if name == "policy" else say("There are none."))
    for row in told["tables"]:
        yield tag(
            "article",
            tag(
                "h2",
                tag("a", row["name"], href=place_of(row["name"])),
                " ",
                tag("small", visible(row["called"], one_line=True)),
            ),
            tag("pre", visible(row["text"])),
            _moves(told, row)
            if row["is_own"] and told["may_edit"]
            else tag("small", legible(row["why"]), class_="faint"),
            class_="card plain",
        )
    if told["adds"] and told["may_edit"]:
        yield tag("p", tag("a", _add_words(name), href=f"{place_of(name)}?{ADD}=1"))


def _moves(told: View, row: View) -> Html:
    own = [one["name"] for one in told["tables"] if one["is_own"]]
    verbs = [
        (say("Change"), ""),
        *([(say("Up"), "up")] if row["moves"] and row["name"] != own[0] else []),
        *([(say("Down"), "down")] if row["moves"] and row["name"] != own[-1] else []),
        *([(say("Remove"), "remove")] if row["removes"] else []),
    ]
    buttons = [
        tag("a", label, href=place_of(row["name"]), class_="button", aria_label=f"{label} {row['name']}")
        if not verb
        else _verb(told, row, label, verb)
        for label, verb in verbs
    ]
    return tag("div", *buttons, class_="buttons")


def _verb(told: View, row: View, label: str, verb: str) -> Html:
    name = row["name"]
    return tag(
        "form",
        tag("button", label, type="submit", aria_label=f"{label} {name}"),
        _outcome(),
        method="post",
        action=f"{ROOT}/settings/{quote(name, safe='')}",
        data_edits=verb,
        data_digest=told["digest"],
        data_mark=row["mark"],
    )


def _outcome() -> Html:
    """Place for the change of the file, which the script fills."""
    return tag("div", class_="outcome", tabindex="-1")


def _form(told: View, *, is_new: bool) -> Iterator[Html]:
    name, verb = told["name"], "add" if is_new else "set"
    fields = [one for one in told["fields"] if one["editable"] or not is_new]
    single = not is_new and len(fields) == 1 and fields[0]["name"] == name
    target = name.rpartition(".")[0] if single else name
    editable = [one for one in fields if one["editable"]] if told["may_edit"] else []
    if editable:
        yield tag("p", when(editable), class_="faint")
        yield tag(
            "form",
            *(part for one in editable for part in _input(one, is_new=is_new)),
            tag(
                "div",
                tag("button", say("Show the change"), type="submit", class_="main"),
                tag("a", say("Cancel"), href=_above(name), class_="button"),
                class_="buttons",
            ),
            _outcome(),
            method="post",
            action=f"{ROOT}/settings/{quote(target, safe='')}",
            class_="card plain edit",
            data_edits=verb,
            data_digest=told["digest"],
            data_mark=told["mark"] or None,
            data_then=place_of(name) if is_new else None,
        )
    others = [one for one in fields if one not in editable]
    if others:
        yield tag("h2", say("Only shown"))
        for one in others:
            yield _shown(one, may_edit=told["may_edit"])


def _above(name: str) -> str:
    """The page that leads to this form: that of the list of a table, else that of all settings."""
    return place_of(name.partition("[")[0]) if "[" in name else SETTINGS_PLACE


def when(fields: Sequence[View]) -> str:
    """Tell when changes of these settings take effect."""
    late = [one["key"] for one in fields if one["takes_effect"] != BY_A_RELOAD]
    if not late:
        return say("Changes take effect at once.")
    if len(late) == len(fields):
        return say("Changes take effect with a restart.")
    return say("Changes take effect at once; those of {names} with a restart.", names=", ".join(late))


def _input(one: View, *, is_new: bool) -> Iterator[Html]:
    key, said = one["key"], f"about-{one['key']}"
    label = say("{key} (required)", key=key) if one["required"] else key
    hint = say(HINTS.get(one["kind"], ""))
    given: dict[str, Any] = {"id": f"value-{key}", "name": key, "aria_describedby": said, "autocomplete": "off"}
    value = "" if is_new else one["in_file"]
    yield tag("label", label, for_=f"value-{key}")
    if one["kind"] in ("choice", "switch"):
        choices = one["choices"] or ["true", "false"]
        options = [tag("option", choice, value=choice, selected=choice == value) for choice in choices]
        empty = say("Choose…") if one["required"] else say("default ({default})", default=said_value(one["default"]))
        yield tag("select", tag("option", empty, value=""), *options, **given)
    elif one["kind"] in FIELD_LINES:
        yield tag(
            "textarea",
            "\n" + value if value.startswith("\n") else value,
            rows=FIELD_LINES[one["kind"]],
            spellcheck="false",
            **given,
        )
    else:
        yield tag(
            "input", value=value, placeholder=say("default: {default}", default=said_value(one["default"])), **given
        )
    words = " ".join(filter(None, (one["doc"], hint)))
    yield tag("small", *with_code(words), id=said, class_="faint about")
    yield tag("p", id=f"fault-{key}", class_="fault", hidden=True)


def _shown(one: View, *, may_edit: bool) -> Html:
    """A setting that only the file may change: what it says, where, and why."""
    pairs = [
        (say("Value"), tag("code", visible(one["value"], one_line=True)) if one["value"] else say("none")),
        (say("From"), legible(one["from"])),
        (say("Default"), tag("code", said_value(one["default"]))),
        (say("Variable"), tag("code", one["variable"])),
        (say("Reference"), tag("code", one["reference"])),
        *([(say("Not here"), legible(one["why"]))] if one["why"] else []),
    ]
    form = _secret(one) if one["secret_name"] and may_edit else None
    return tag(
        "article",
        tag("h3", tag("code", one["name"])),
        tag("p", *with_code(one["doc"])),
        facts(pairs),
        form,
        class_="card plain",
    )


def _secret(one: View) -> Html:
    """The form that seals a secret, and never shows it."""
    where = f"secret-{one['key']}"
    return tag(
        "form",
        tag("label", say("A new value of {name}", name=one["secret_name"]), for_=where),
        tag("input", id=where, name="value", type="password", required=True, autocomplete="off"),
        tag("div", tag("button", say("Seal it"), type="submit"), class_="buttons"),
        method="post",
        action=f"{ROOT}/secrets/{quote(one['secret_name'], safe='')}",
        class_="edit",
        data_plain=True,
    )
