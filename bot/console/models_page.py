"""The page of models: what each is asked for, what it holds and costs, and a button that ends a rest."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final
from urllib.parse import quote

from aiohttp import web

from bot.console.html import Html, tag
from bot.console.layout import badge, moment, page, table
from bot.operator.api import ROOT
from bot.operator.operations import Operations
from bot.operator.views import View
from runtime.text.glyphs import legible

MODELS_PAGE: Final = "/console/models"
MODEL_HEADS: Final = ("Name", "State", "Asked", "Window", "Price of a million tokens", "Key", "Actions")
WINDOW_SOURCES: Final = {"set": "by the settings", "listed": "by LiteLLM's list", "assumed": "assumed"}
PRICE_SOURCES: Final = {
    **WINDOW_SOURCES,
    "free": "nothing",
    "unknown": "nobody knows its price",
}
STATES: Final = {"well": "well", "resting": "resting", "due": "tried again"}


async def models(_request: web.Request, do: Operations) -> Html:
    rows = await do.models()
    return page("Models", MODELS_PAGE, table("Models", MODEL_HEADS, map(_line, rows)))


def _line(row: View) -> tuple[str, ...]:
    source = PRICE_SOURCES[row["price_source"]]
    return (
        _name(row),
        _state(row),
        ", ".join(_roles(row)) or "by name",
        f"{row['window']:,} tokens, {WINDOW_SOURCES[row['window_source']]}",
        f"{row['price']}, {source}" if row["price_source"] in ("set", "listed") else source,
        _key(row),
        _clear(row),
    )


def _name(row: View) -> Html:
    name = tag("strong", legible(row["name"]))
    return name if row["name"] == row["model"] else tag("span", name, " ", tag("code", row["model"]))


def _roles(row: View) -> Iterator[str]:
    if row["usual"]:
        yield "usually"
    if row["fallback"]:
        yield f"as fallback {row['fallback']}"
    if row["for"]:
        yield f"for {' and '.join(row['for'])}"
    if row["least_complexity"] is not None:
        yield f"from complexity {row['least_complexity']}"


def _state(row: View) -> Html:
    rest = row["cooldown"]
    if rest is None:
        return badge(STATES[row["state"]])
    until = [" until ", moment(rest["until"])] if rest["until"] else [" until its settings or key change"]
    reason = tag("p", legible(rest["reason"]), class_="faint")
    return tag("div", badge(STATES[row["state"]]), *until, reason)


def _key(row: View) -> str:
    if row["key"] == "missing":
        return tag("span", badge("missing"), " ", tag("code", row["wanted_key"]))
    return row["key"] if row["key"] in ("not needed", "set") else tag("code", row["key"])


def _clear(row: View) -> Html:
    if row["cooldown"] is None:
        return Html("")
    return tag(
        "form",
        tag("button", "Clear cooldown", type="submit"),
        method="post",
        action=f"{ROOT}/cooldowns/{quote(row['name'], safe='')}/clear",
        data_ask="Ask this model again with the next message?",
    )
