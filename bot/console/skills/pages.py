"""The page of skills: how each stands, and where one waits for an owner what it can do, what stands out and what differs."""

from __future__ import annotations

from typing import Final
from urllib.parse import quote

from aiohttp import web

from bot.console.html import Html, tag
from bot.console.layout import badge, breaking, page, table
from bot.operator.api import ROOT
from bot.operator.operations import Operations
from bot.operator.views import View
from runtime.contract import Role
from runtime.text.glyphs import legible
from runtime.text.words import marked, say, several

SKILLS_PLACE: Final = "/console/skills"
SKILL_HEADS: Final = (
    marked("Name"),
    marked("State"),
    marked("What it's for"),
    marked("Brings along"),
    marked("Agents"),
    marked("From"),
    marked("Actions"),
)
SOURCES: Final[View] = {
    "shipped": marked("shipped"),
    "user": marked("your folder"),
    "settings": marked("a folder of the settings"),
    "agent": marked("an agent's folder"),
}
WAITING_SKILLS: Final = marked("Waiting for an owner")
NO_SKILLS: Final = marked("No skills are here. Add one with ")


async def skills(_request: web.Request, do: Operations) -> Html:
    rows = await do.skills()
    waiting = [await do.skill(row["name"]) for row in rows if row["waits"]]
    is_owner = do.actor.person.role is Role.OWNER
    how = tag(
        "p",
        say(NO_SKILLS) if not rows else say("Add one with "),
        tag("code", "signalbox skills install FOLDER"),
        ".",
        class_="faint",
    )
    asked = [tag("h2", say(WAITING_SKILLS)), *(_question(row, is_owner=is_owner) for row in waiting)] if waiting else []
    lines = [_line(row, is_owner=is_owner) for row in rows]
    return page(say("Skills"), SKILLS_PLACE, *asked, table(say("Skills"), SKILL_HEADS, lines), how)


def _question(row: View, *, is_owner: bool) -> Html:
    """One that waits, as its owner reads it before a decision."""
    parts = [tag("p", tag("strong", row["name"]), " ", badge(row["standing"]))]
    for part in row["details"]:
        block = part.startswith("```")
        text = part.split("\n", 1)[1].rsplit("\n", 1)[0] if block else _plain(part)
        parts.append(tag("pre", text) if block else tag("p", *_lines(text)))
    return tag(
        "section",
        *parts,
        _approve(row) if is_owner else tag("p", say("An owner decides."), class_="faint"),
        class_="card",
    )


def _lines(text: str) -> list[Html | str]:
    """A paragraph with its line breaks."""
    found: list[Html | str] = []
    for line in text.split("\n"):
        found += [*([tag("br")] if found else []), legible(line)]
    return found


def _plain(part: str) -> str:
    """Markdown's own signs were put before each letter that it would read; here nothing reads it."""
    return part.replace("\\", "").replace("`", "")


def _line(row: View, *, is_owner: bool) -> tuple[str, ...]:
    actions = [_approve(row)] if is_owner and row["waits"] else []
    actions += [_remove(row)] if is_owner and row["standing"] == "accepted" else []
    return (
        tag(
            "div",
            tag("strong", row["name"]),
            tag("p", say("for {agent}", agent=row["agent"]), class_="faint") if row["agent"] else "",
        ),
        tag("div", badge(row["standing"]), tag("p", legible(row["state"]), class_="faint")),
        legible(row["description"]),
        _brings(row),
        ", ".join(row["agents"]) or say("no agent"),
        tag(
            "div",
            say(str(SOURCES.get(row["source"], row["source"]))),
            tag("p", breaking(legible(row["folder"])), class_="faint"),
        ),
        tag("div", *actions) if actions else Html(""),
    )


def _brings(row: View) -> Html:
    scripts = several(len(row["scripts"]), "script") if row["scripts"] else say("no scripts")
    if not row["warnings"]:
        return tag("span", scripts)
    found = [tag("p", legible(one), class_="faint") for one in row["warnings"]]
    return tag("details", tag("summary", f"{scripts}; {several(len(row['warnings']), 'warning')}"), *found)


def _approve(row: View) -> Html:
    return _form(
        row["name"], "approve", say("Accept"), say("Accept {name} as it is now?", name=row["name"]), form=row["form"]
    )


def _remove(row: View) -> Html:
    return _form(
        row["name"], "remove", say("Remove"), say("Remove {name}? No agent has it from then on.", name=row["name"])
    )


def _form(name: str, verb: str, word: str, question: str, **fields: str) -> Html:
    hidden = (tag("input", type="hidden", name=key, value=value) for key, value in fields.items())
    place = f"{ROOT}/skills/{quote(name, safe='')}/{verb}"
    return tag("form", *hidden, tag("button", word, type="submit"), method="post", action=place, data_ask=question)
