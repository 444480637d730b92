"""The page of models and budgets: what each model is asked for, holds and costs; what is left of the money."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final
from urllib.parse import quote

from aiohttp import web

from bot.console.html import Html, filled, join, tag
from bot.console.layout import badge, moment, nothing, page, table
from bot.operator.api import ROOT
from bot.operator.operations import Operations
from bot.operator.views import View
from runtime.chat.budgets import UNPRICED, amount
from runtime.contract import Role
from runtime.errors import Cause
from runtime.policy.budgets import DOLLAR, HOURLY, Scope
from runtime.text.glyphs import legible
from runtime.text.words import count, listed, marked, say, several

MODELS_PAGE: Final = "/console/models"
MODEL_HEADS: Final = (
    marked("Name"),
    marked("State"),
    marked("Asked"),
    marked("Window"),
    marked("Price of a million tokens"),
    marked("Key"),
    marked("Actions"),
)
WINDOW_SOURCES: Final = {
    "set": marked("by the settings"),
    "listed": marked("by LiteLLM's list"),
    "assumed": marked("assumed"),
}
PRICE_SOURCES: Final = {
    **WINDOW_SOURCES,
    "free": marked("nothing"),
    "unknown": marked("nobody knows its price"),
}
LOGIN_HEADS: Final = (
    marked("Name"),
    marked("State"),
    marked("Token until"),
    marked("Then"),
    marked("Renewed"),
    marked("Signed in by"),
    marked("Issuer"),
)
STATES: Final = {"well": "well", "resting": "resting", "due": marked("tried again"), "failing": "fails"}


KEY_STATES: Final = (marked("not needed"), marked("set"))
BUDGET_HEADS: Final = (
    marked("Budget"),
    marked("Of"),
    marked("Used"),
    marked("Under way"),
    marked("Left"),
    marked("Limit"),
    marked("State"),
    marked("Starts again"),
)
BUDGET_NAMES: Final = {
    Scope.DAY: marked("Everybody, a day"),
    Scope.MONTH: marked("Everybody, a month"),
    Scope.PERSON_DAY: marked("A person, a day"),
    Scope.ROOM_DAY: marked("A room, a day"),
    Scope.AGENT_DAY: marked("An agent, a day"),
    Scope.AGENT_TOKENS_HOUR: marked("An agent's tokens, an hour"),
    Scope.AGENT_CALLS_HOUR: marked("An agent's model calls, an hour"),
}
NO_BUDGETS: Final = marked("No budgets are in effect, so nothing limits what work costs.")
KEY_PLACE: Final = "/console/settings-model"
BUDGETS_PLACE: Final = "/console/settings/budgets"


async def models(_request: web.Request, do: Operations) -> Html:
    rows, budgets, logins = await do.models(), await do.budgets(), await do.logins()
    is_owner = do.actor.person.role is Role.OWNER
    told = table(say("Budgets"), BUDGET_HEADS, map(_budget, budgets)) if budgets else nothing(say(NO_BUDGETS))
    change = tag("p", tag("a", say("Set budgets"), href=BUDGETS_PLACE))
    unpriced = max((row["unpriced_calls"] for row in budgets), default=0)
    missing = tag("p", f"{count(unpriced)} {say(UNPRICED)}.", class_="faint") if unpriced else Html("")
    signed = [tag("h2", say("Sign-ins")), table(say("Sign-ins"), LOGIN_HEADS, map(_login, logins))] if logins else []
    return page(
        say("Models"),
        MODELS_PAGE,
        table(say("Models"), MODEL_HEADS, (_line(row, is_owner=is_owner) for row in rows)),
        *signed,
        tag("h2", say("Budgets")),
        told,
        missing,
        change,
    )


def _login(row: View) -> tuple[str, ...]:
    """A line about one sign-in: until when its token is good, and what comes then."""
    trouble = tag("p", legible(row["trouble"]), class_="faint") if row["trouble"] else ""
    until = moment(row["ends_at"]) if row["ends_at"] else (say("no end known") if row["at"] else "")
    then = (say("renewed before that") if row["renews"] else say("ends for good")) if row["ends_at"] else ""
    return (
        tag("strong", legible(row["name"])),
        tag("div", badge(row["state"]), trouble),
        until,
        then,
        moment(row["renewed_at"]) if row["renewed_at"] else "",
        legible(row["by"]),
        legible(row["issuer"]),
    )


def _budget(row: View) -> tuple[str, ...]:
    """A line about one budget, its sums in their unit."""
    scope = Scope(row["budget"])
    unit = 1 if scope in HOURLY else DOLLAR
    sums = (amount(scope, round(row[name] * unit)) for name in ("used", "under_way", "left", "limit"))
    return (
        say(BUDGET_NAMES[scope]),
        legible(row["whose"]) or say("all"),
        *sums,
        badge(row["state"]),
        moment(row["ends_at"]),
    )


def _line(row: View, *, is_owner: bool) -> tuple[str, ...]:
    source = say(PRICE_SOURCES[row["price_source"]])
    return (
        _name(row),
        _state(row),
        ", ".join(_roles(row)) or say("by name"),
        say(
            "{tokens}, {source}",
            tokens=several(row["window"], "token"),
            source=say(WINDOW_SOURCES[row["window_source"]]),
        ),
        f"{row['price']}, {source}" if row["price_source"] in ("set", "listed") else source,
        _key(row),
        _mend(row, is_owner=is_owner),
    )


def _name(row: View) -> Html:
    name = tag("strong", legible(row["name"]))
    return name if row["name"] == row["model"] else tag("span", name, " ", tag("code", row["model"]))


def _roles(row: View) -> Iterator[str]:
    if row["usual"]:
        yield say("usually")
    if row["fallback"]:
        yield say("as fallback {number}", number=row["fallback"])
    if row["for"]:
        yield say("for {names}", names=listed(row["for"]))
    if row["least_complexity"] is not None:
        yield say("from complexity {number}", number=row["least_complexity"])


def _state(row: View) -> Html:
    rest = row["cooldown"]
    if rest is None:
        return badge(STATES[row["state"]])
    reason = tag("p", legible(rest["reason"]), class_="faint")
    return tag("div", badge(STATES[row["state"]]), *_until(rest), reason)


def _until(rest: View) -> Sequence[str]:
    if rest["alone"]:
        return [", ", say("{times} in a row; each new message asks it again", times=several(rest["failures"], "time"))]
    if rest["until"]:
        return [" ", tag("span", *filled(say("until {time}"), time=moment(rest["until"], exact=True)))]
    return [" ", say("until its settings or key change")]


def _key(row: View) -> str:
    if row["key"] == "missing":
        return tag("span", badge("missing"), " ", tag("code", row["wanted_key"]))
    return say(row["key"]) if row["key"] in KEY_STATES else tag("code", row["key"])


def _mend(row: View, *, is_owner: bool) -> Html:
    """The way to another key where its provider refused this one, for whoever may set it; and the end of a rest."""
    rest = row["cooldown"]
    if rest is None:
        return Html("")
    key = tag("p", tag("a", say("A model and its key"), href=KEY_PLACE))
    return join([key if is_owner and rest["cause"] == Cause.AUTH else None, _clear(row)])


def _clear(row: View) -> Html:
    return tag(
        "form",
        tag("button", say("Clear cooldown"), type="submit"),
        method="post",
        action=f"{ROOT}/cooldowns/{quote(row['name'], safe='')}/clear",
        data_ask=say("Ask this model again with the next message?"),
    )
