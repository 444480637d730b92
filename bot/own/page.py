"""The page of one's own data, in the look of the console."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from bot.console.html import Html, filled, tag
from bot.console.layout import badge, facts, moment, nothing, own_page, table, where
from bot.operator.access.forgetting import OUTSIDE
from bot.operator.views import View
from runtime.contract import Role
from runtime.text.naming import PERSON_NAME_MAX_CHARS
from runtime.text.words import marked, say, several

OWN_PLACE: Final = "/me"
OWN_ROOT: Final = "/api/me"
EXPORT_FILE: Final = "/me/data.zip"
SESSION_HEADS: Final = (
    marked("Browser"),
    marked("Signed in by"),
    marked("Since"),
    marked("Last seen"),
    marked("Change"),
)
SESSION_WORDS: Final = marked(
    "Each browser is signed in for itself. Your link still opens this page; a new one, which ends the old one everywhere, is made by an owner."
)
EXPORT_WORDS: Final = marked(
    "A zip file with what is kept of you: a file of lines for each table, and the files of your private conversations. "
    "What others wrote of you elsewhere isn't in it. The audit notes that you asked."
)
FORGET_WORDS: Final = marked(
    "An owner has you forgotten for good: what you wrote, what was answered to you, your conversations, files, memories, schedules and grants go. What this doesn't reach:"
)
MEMORY_WORDS: Final = marked(
    "What agents remember for you alone. `/memory` in a chat shows what is remembered in its room, too."
)
COUNTED: Final = {
    "schedules": marked("Schedules"),
    "triggers": marked("Triggers"),
    "tasks": marked("Tasks"),
    "grants": marked("Grants"),
    "questions": marked("Questions that your work raised"),
}


def own_data(told: View) -> Html:
    return own_page(
        say("My data"),
        tag("p", say("What Signalbox keeps of you, and what you can do with it."), class_="faint"),
        _profile(told),
        tag("h2", say("Where you're signed in")),
        *_sessions(told["sessions"]),
        tag("h2", say("Conversations")),
        _rooms(told["rooms"]),
        tag("h2", say("Memories")),
        tag("p", say(MEMORY_WORDS).replace("`", ""), class_="faint"),
        _memories(told["memories"]),
        tag("h2", say("Ratings")),
        _ratings(told["ratings"]),
        tag("h2", say("Notifications")),
        _browsers(told["browsers"]),
        tag("h2", say("Take it with you, or have it removed")),
        *_endings(told),
        console=told["role"] in (Role.OPERATOR.word, Role.OWNER.word),
    )


def _profile(told: View) -> Html:
    size = told["files"]["bytes"]
    counts = [(say(words), str(told["counts"][what])) for what, words in COUNTED.items() if told["counts"][what]]
    files = say(
        "{files}, {kilobytes} KB", files=several(told["files"]["count"], "file"), kilobytes=f"{-(-size // 1000)}"
    )
    return facts(
        [
            (say("Name"), told["name"]),
            (say("Role"), badge(told["role"])),
            (say("Linked accounts"), ", ".join(told["identities"]) or "-"),
            (say("Time zone"), told["zone"] or "-"),
            *counts,
            (say("Files in private conversations"), files),
        ]
    )


def _sessions(rows: list[View]) -> Iterable[Html | None]:
    if not rows:
        yield nothing(say("You're signed in by a proxy in front of Signalbox, which doesn't tell us about browsers."))
        return
    yield tag("p", say(SESSION_WORDS), class_="faint")
    yield table(
        say("Browsers"),
        SESSION_HEADS,
        (
            (
                _called(one),
                one["issuer"] or say("a link"),
                moment(one["since"]),
                moment(one["seen"]),
                _post(f"sessions/{one['id']}/end", say("Sign out"), then="/" if one["here"] else ""),
            )
            for one in rows
        ),
    )
    if len(rows) > 1:
        ask = say("Sign out in all browsers but this one?")
        yield tag("div", _post("sessions/end-others", say("Sign out everywhere else"), ask=ask), class_="changes")


def _called(one: View) -> str:
    name = one["browser"] or say("Unknown browser")
    return say("{browser} (this one)", browser=name) if one["here"] else name


def _rooms(rows: list[View]) -> Html:
    if not rows:
        return nothing(say("You haven't written anything yet."))
    heads = (marked("Room"), marked("Messages"), marked("Last"))
    return table(
        say("Conversations"), heads, ((_place(one), str(one["messages"]), moment(one["last"])) for one in rows)
    )


def _place(one: View) -> Html:
    return tag("a", where(one), href=one["place"]) if one["place"] else where(one)


def _memories(rows: list[View]) -> Html:
    if not rows:
        return nothing(say("Nothing is remembered for you alone."))
    heads = (marked("Memory"), marked("Agent"), marked("Since"), marked("Change"))
    lines = (
        (
            one["text"],
            one["agent"],
            moment(one["since"]),
            _post(f"memories/{one['id']}/forget", say("Forget"), ask=say("Forget this for good?")),
        )
        for one in rows
    )
    return table(say("Memories"), heads, lines)


def _ratings(rows: list[View]) -> Html:
    if not rows:
        return nothing(say("You haven't rated any answer."))
    heads = (marked("Room"), marked("Rating"), marked("Words"), marked("When"))
    lines = ((where(one), say(one["rating"]), one["words"] or "-", moment(one["at"])) for one in rows)
    return table(say("Ratings"), heads, lines)


def _browsers(rows: list[View]) -> Html:
    if not rows:
        return nothing(say("No browser of yours gets notifications."))
    heads = (marked("Since"), marked("Change"))
    lines = ((moment(one["since"]), _post(f"browsers/{one['id']}/drop", say("Turn off"))) for one in rows)
    return table(say("Browsers that get notifications"), heads, lines)


def _endings(told: View) -> Iterable[Html]:
    download = tag("a", say("Download my data"), href=EXPORT_FILE, download=True)
    yield tag(
        "section", tag("h3", say("Export")), tag("p", say(EXPORT_WORDS), class_="faint"), download, class_="changes"
    )
    places = tag("ul", *(tag("li", say(place)) for place in OUTSIDE))
    yield tag(
        "section",
        tag("h3", say("Be forgotten")),
        tag("p", say(FORGET_WORDS), class_="faint"),
        places,
        _forget_form(told),
        class_="changes",
    )


def _forget_form(told: View) -> Html:
    if told["asked_at"]:
        ask = say("Tell the owners that you don't want to be forgotten any more?")
        return tag(
            "div",
            tag("p", *filled(say("You asked for it {time}. An owner does it."), time=moment(told["asked_at"]))),
            _post("forget/withdraw", say("Take it back"), ask=ask),
        )
    if told["role"] == Role.OWNER.word:
        return tag("p", say("You're an owner: you do it yourself, on your page under People in the console."))
    label = say("Write {name} once more", name=told["name"])
    field = tag(
        "input",
        name="confirm",
        aria_label=label,
        title=label,
        placeholder=label,
        autocomplete="off",
        maxlength=str(PERSON_NAME_MAX_CHARS),
        required=True,
    )
    return _post("forget", say("Ask to be forgotten"), field, ask=say("Ask the owners to have you forgotten for good?"))


def _post(verb: str, label: str, field: Html | None = None, *, ask: str | None = None, then: str = "") -> Html:
    return tag(
        "form",
        field,
        tag("button", label, type="submit"),
        method="post",
        action=f"{OWN_ROOT}/{verb}",
        data_ask=ask,
        data_then=then or None,
    )
