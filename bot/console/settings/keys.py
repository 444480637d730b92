"""Pages on which an owner enters what is never shown again: the key of a model, and the tokens of an account."""

from __future__ import annotations

from typing import Final
from urllib.parse import quote

from aiohttp import web

from bot.console.html import Html, tag
from bot.console.layout import nothing, page
from bot.console.settings.form import confirmation
from bot.console.settings.pages import OWNERS_ONLY, SETTINGS_PLACE, notices
from bot.operator.api import ROOT
from bot.operator.operations import Operations
from bot.operator.views import View
from runtime.contract import Role
from runtime.text.words import marked, say

MODEL_WORDS: Final = marked(
    "Write the vendor, a slash, and the model, such as openai/gpt-4o-mini or anthropic/claude-sonnet-4-5. The key is tried with one question, which costs a few tokens; then it is sealed, and shown to nobody."
)
CHANNEL_WORDS: Final = marked(
    "The tokens are checked at the platform first. Then they are sealed, and shown to nobody."
)


async def model(_request: web.Request, do: Operations) -> Html:
    told = await do.setting("model.name")
    return _page(say("A model and its key"), told, [_model_form(told)] if _may(do) else [], _me(do))


async def channels(_request: web.Request, do: Operations) -> Html:
    told, rows = await do.setting("accounts"), await do.channels()
    return _page(
        say("Connect a channel"),
        told,
        [tag("p", say(CHANNEL_WORDS)), *map(_channel, rows)] if _may(do) else [],
        _me(do),
    )


def _me(do: Operations) -> str:
    return do.actor.person.name


def _may(do: Operations) -> bool:
    return do.actor.person.role is Role.OWNER


def _page(title: str, told: View, content: list[Html], me: str) -> Html:
    return page(
        title,
        SETTINGS_PLACE,
        tag("p", tag("a", say("All settings"), href=SETTINGS_PLACE)),
        *notices(told),
        *(content or [nothing(say(OWNERS_ONLY))]),
        *confirmation(told, me),
        refreshed=False,
        script="settings.js",
        style="settings.css",
    )


def _model_form(told: View) -> Html:
    return tag(
        "form",
        tag("p", say(MODEL_WORDS)),
        tag("label", say("Model"), for_="model"),
        tag(
            "input",
            id="model",
            name="model",
            value=told["fields"][0]["in_file"],
            required=True,
            autocomplete="off",
            maxlength="200",
        ),
        tag("label", say("Its key (empty: the one that is set already)"), for_="key"),
        tag("input", id="key", name="key", type="password", autocomplete="off"),
        tag(
            "div",
            tag("button", say("Try it"), type="submit"),
            tag("button", say("Try and save"), type="submit", class_="main", name="keep", value="yes"),
            class_="buttons",
        ),
        method="post",
        action=f"{ROOT}/model-keys",
        class_="card plain edit",
        data_plain=True,
    )


def _channel(row: View) -> Html:
    name = row["channel"]
    return tag(
        "details",
        tag("summary", tag("strong", row["title"])),
        tag("p", row["setup"], class_="setup"),
        tag(
            "form",
            *(part for one in row["secrets"] for part in _token(name, one)),
            tag("label", say("Name of the account (empty: {name})", name=name), for_=f"{name}-name"),
            tag("input", id=f"{name}-name", name="name", maxlength="32", autocomplete="off"),
            tag(
                "div",
                tag("button", say("Check and connect {title}", title=row["title"]), type="submit", class_="main"),
                class_="buttons",
            ),
            method="post",
            action=f"{ROOT}/channels/{quote(name, safe='')}",
            class_="edit",
            data_plain=True,
        ),
        id=f"channel-{name}",
        class_="settings",
    )


def _token(channel: str, one: View) -> tuple[Html, ...]:
    where = f"{channel}-{one['name']}"
    return (
        tag("label", one["title"], for_=where),
        tag(
            "input",
            id=where,
            name=one["name"],
            type="password",
            required=True,
            autocomplete="off",
            aria_describedby=f"about-{where}",
        ),
        tag("small", say("Its form: {looks}.", looks=one["looks"]), id=f"about-{where}", class_="faint about"),
    )
