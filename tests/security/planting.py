"""Places where texts of others are shown, on the page and in the console, and the rows that hold the texts there."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from runtime.contract import Address, ApprovalId, Button, Choice, Content, FileRef, Kind, Mark
from tests.security.ground import AT, LATER, Ground

Numbered = Sequence[tuple[int, str]]
Plant = Callable[[Ground, Numbered], None]


# ------------------------------------------------------------------------------------------------ conversations, on the page


def _messages(ground: Ground, numbered: Numbered) -> None:
    ground.session("messages01")
    for number, text in numbered:
        ground.signal("messages01", number, text)


def _names(ground: Ground, numbered: Numbered) -> None:
    """Of others who wrote in the room, with a file of theirs each."""
    ground.session("names00001")
    ground.signal("names00001", 1)
    for number, text in numbered:
        ground.signal("names00001", number, actor=f"web:p{number}", actor_name=text, person_id=f"p{number}")


def _attached(ground: Ground, numbered: Numbered) -> None:
    ground.session("attached01")
    for number, text in numbered:
        files = [[text, f"inbox/{text}", 1], [f"{text}.png", f"inbox/{text}.png", 1]]
        ground.signal("attached01", number, files=json.dumps(files))


def _titles(ground: Ground, numbered: Numbered) -> None:
    for number, text in numbered:
        ground.session(f"title{number}")
        ground.signal(f"title{number}", number, text)


def _said(room: str, content: Callable[[str], Content], kind: Kind = Kind.FINAL) -> Plant:
    """Deliveries in a room of their own."""

    def plant(ground: Ground, numbered: Numbered) -> None:
        ground.session(room)
        ground.signal(room, {"answers001": 2, "reports001": 3}.get(room, sum(room.encode())))
        for number, text in numbered:
            ground.shown(room, number, content(text), kind)

    return plant


def _card(text: str) -> Content:
    """With buttons, which need no question behind them to be drawn."""
    return Content(
        text, tuple(Button(ApprovalId("a1"), choice, text) for choice in (Choice.APPROVE, Choice.DENY, Choice.EDIT))
    )


def _folded(text: str) -> Content:
    """Under its first line, which is the text too."""
    return Content("x", folded=f"{' '.join(text.split())}\n\n{text}")


def _summaries(ground: Ground, numbered: Numbered) -> None:
    for number, text in numbered:
        room = "summary001"
        if number == numbered[0][0]:
            session = ground.session(room)
        ground.signal(room, number)
        ground.run(room, number, last_turn=number)
        ground.add(
            "turns",
            session=session,
            number=number,
            run_id=f"r{number:021}",
            role="user",
            text="x",
            calls="[]",
            files="[]",
            at=AT + number,
        )
        more = {"kind": "model", "text": text, "request": text, "facts": "{}", "model": "demo", "at": AT + number}
        ground.add("summaries", session=session, upto_turn=number, turns=1, **more)


def _files(ground: Ground, numbered: Numbered) -> None:
    """In the workspace of a room, with letters that a file's name may have."""
    ground.session("files00001")
    ground.signal("files00001", 4)
    folder = ground.workspaces.folder(Address("web", ground.account, "files00001"))
    for number, text in numbered:
        (folder / text.replace("/", "\u2044").replace("\x00", "")[:80]).write_text(str(number))


# ---------------------------------------------------------------------------------------------------------- the console


def _steps(ground: Ground, numbered: Numbered, **which: Callable[[str], str]) -> None:
    run = numbered[0][0]
    room = f"steps{run}"
    ground.session(room)
    ground.signal(room, run)
    ground.run(room, run)
    for number, text in numbered:
        given = {name: made(text) for name, made in which.items()}
        common = {
            "kind": "tool",
            "state": "done",
            "tool": "shell",
            "effect": "write",
            "arguments": "{}",
            "started_at": AT,
        }
        ground.add("steps", **{**common, "run_id": f"r{run:021}", "number": number, "ended_at": AT, **given})


def _step_column(column: str, made: Callable[[str], str]) -> Plant:
    return lambda ground, numbered: _steps(ground, numbered, **{column: made})


def _arguments(text: str) -> str:
    return json.dumps({text: text, "list": [{"command": text}]})


def _runs(ground: Ground, numbered: Numbered) -> None:
    ground.session("runs000001")
    for number, text in numbered:
        ground.signal("runs000001", number, text)
        ground.run("runs000001", number)


def _people(ground: Ground, numbered: Numbered) -> None:
    for number, text in numbered:
        ground.add("people", id=f"p{number}", name=text, role=1, added_at=AT)
        ground.add("identities", identity=f"slack:T1/U{number}", person_id=f"p{number}")


def _identities(ground: Ground, numbered: Numbered) -> None:
    for number, text in numbered:
        ground.add("people", id=f"i{number}", name=f"person {number}", role=1, added_at=AT)
        ground.add("identities", identity=f"slack:{text}", person_id=f"i{number}")


def _pairings(ground: Ground, numbered: Numbered) -> None:
    for number, text in numbered:
        known = {"identity": f"slack:T1/S{number}", "name": text, "code_hash": f"{number}"}
        ground.add("pairings", **known, address=ground.address("pairing001"), created_at=AT, expires_at=LATER)


def _approvals(column: str) -> Plant:
    def plant(ground: Ground, numbered: Numbered) -> None:
        for number, text in numbered:
            ground.approval(number, **{column: text})

    return plant


def _called(ground: Ground, numbered: Numbered) -> None:
    for number, text in numbered:
        ground.approval(number, arguments=json.dumps({"command": text}), state="expired")


def _grants(column: str, made: Callable[[str], str] = str) -> Plant:
    def plant(ground: Ground, numbered: Numbered) -> None:
        for number, text in numbered:
            common = {"agent": "main", "tool": "shell", "form": "", "pattern": "{}", "by": ground.owner, "until": LATER}
            ground.add(
                "grants",
                **{**common, "id": f"g{number}", "created_at": AT, "from_approval": f"a{number}", column: made(text)},
            )

    return plant


def _pattern(text: str) -> str:
    return json.dumps({text: {"is": text}, "b": {"like": text}, "c": {"words": [text], "more": True}})


def _schedules(ground: Ground, numbered: Numbered) -> None:
    """Like one of the settings."""
    row = dict(ground.raw.execute("SELECT * FROM schedules WHERE name = 'morning'").fetchone())
    paused = {"state": "paused", "next_at": None, "due_at": None, "by_file": 0, "owner": ground.owner}
    for number, text in numbered:
        ground.add("schedules", **{**row, **paused, "id": f"t{number}", "name": text})


def _outbox(ground: Ground, numbered: Numbered) -> None:
    for number, text in numbered:
        ground.shown("outbox0001", number, Content(text), state="dead", reason=text)


def _receipts(ground: Ground, numbered: Numbered) -> None:
    """Ids that a platform gave, of parts of one delivery."""
    first = numbered[0][0]
    ground.shown("receipts01", first, Content("hello"))
    for number, text in numbered:
        part = {"delivery_id": f"d{first:021}", "ordinal": number, "state": "shown", "body": "{}", "more": "[]"}
        ground.add("parts", **part, receipt=text, shown_at=AT)


def _conversations(ground: Ground, numbered: Numbered) -> None:
    """Called by their first words, where something could not be sent."""
    for number, text in numbered:
        room = f"room{number}"
        ground.session(room)
        ground.signal(room, number, text)
        ground.shown(room, number, Content("hello"), state="dead", reason="x")


def _modes(ground: Ground, numbered: Numbered) -> None:
    for number, text in numbered:
        session = ground.session(f"mode{number}")
        ground.add("people", id=f"m{number}", name=text, role=1, added_at=AT)
        ground.add("modes", session=session, mode="read-only", set_by=f"m{number}", set_at=AT)


def _moves(ground: Ground, numbered: Numbered) -> None:
    first = numbered[0][0]
    ground.session("moves00001")
    ground.signal("moves00001", first)
    ground.run("moves00001", first)
    ground.shown("moves00001", first, Content("hello"))
    for number, text in numbered:
        what = {"subject": f"d{first:021}", "what": "retry", "detail": text}
        ground.add("moves", number=number, at=AT + number, **what)


@dataclass(frozen=True)
class Place:
    """A place where text of others is shown: the page there, and the rows that hold the text.

    `lines`: it is shown with its lines. `press` is a button that opens it. `%F` in `path` stands for the number of the
    place's first case.
    """

    name: str
    path: str
    plant: Plant
    lines: bool = False
    press: str = ""


PLACES: Final = (
    Place("a person's message", "/#messages01", _messages, lines=True),
    Place("a name of who wrote", "/#names00001", _names),
    Place("an attached file", "/#attached01", _attached),
    Place("a title of a conversation", "/#messages01", _titles),
    Place("an answer", "/#answers001", _said("answers001", Content), lines=True),
    Place("a report", "/#reports001", _said("reports001", Content, Kind.REPORT), lines=True),
    Place("a folded result", "/#folded0001", _said("folded0001", _folded), lines=True),
    Place(
        "a caption of files",
        "/#sentfile01",
        _said("sentfile01", lambda text: Content("x", files=(FileRef(text, text, 1),))),
    ),
    Place("a card and its buttons", "/#cards00001", _said("cards00001", _card, Kind.APPROVAL), lines=True),
    Place(
        "a settled card",
        "/#settled001",
        _said("settled001", lambda text: Content(f"{Mark.NO} **{text}**", mark=Mark.NO), Kind.APPROVAL),
    ),
    Place("a summary", "/#summary001", _summaries, lines=True),
    Place("a file of the workspace", "/#files00001", _files, press="files"),
    Place("a tool's name", "/console/runs/r%F", _step_column("tool", str)),
    Place("a call's arguments", "/console/runs/r%F", _step_column("arguments", _arguments), lines=True),
    Place("a call's result", "/console/runs/r%F", _step_column("result", str), lines=True),
    Place("a run's message", "/console/runs", _runs),
    Place("a conversation's name", "/console/outbox", _conversations),
    Place("a person's name", "/console/people", _people),
    Place("an identity", "/console/people", _identities),
    Place("a stranger's name", "/console/people", _pairings),
    Place("who decided", "/console/approvals", _approvals("decided_name")),
    Place("a decision's reason", "/console/approvals", _approvals("reason"), lines=True),
    Place("a settled call", "/console/approvals", _called, lines=True),
    Place("a tool of a settled call", "/console/approvals", _approvals("tool")),
    Place("a granted tool", "/console/grants", _grants("tool")),
    Place("a granted pattern", "/console/grants", _grants("pattern", _pattern), lines=True),
    Place("a schedule's name", "/console/schedules", _schedules),
    Place("a message in the outbox", "/console/outbox", _outbox),
    Place("an id of a platform", "/console/outbox/d%F", _receipts),
    Place("who set a mode", "/console", _modes),
    Place("an error of a delivery", "/console/trace/r%F", _moves),
)
