"""The table of forged presses: who presses, what the button carries, and who may decide at all."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from runtime.contract import Effect, Identity, Role
from runtime.domain.approvals import Rights
from runtime.domain.ids import new_id

Raw = dict[str, Any]
Twist = Callable[[Raw], None]
"""Changes what the platform would send of a press."""

HERE, THERE = 0, 1
"""The two rooms of a wire."""

PEOPLE: Final[Mapping[str, Role | None]] = {
    "ada": Role.OWNER,
    "otto": Role.OPERATOR,
    "olga": Role.OPERATOR,
    "vic": Role.USER,
    "uma": Role.USER,
    "vera": Role.VIEWER,
    "dora": Role.OPERATOR,  # made a user once the cards are up
    "dina": Role.OPERATOR,  # made a viewer once the cards are up
    "rick": Role.OPERATOR,  # removed once the cards are up
    "bert": Role.OPERATOR,  # blocked by the settings
    "mallory": None,
    "robot": None,
}
DEMOTED: Final[Mapping[str, Role]] = {"dora": Role.USER, "dina": Role.VIEWER}
REMOVED: Final = "rick"
BLOCKED: Final = "bert"
ROBOT: Final = "robot"


@dataclass(frozen=True, slots=True)
class Rule:
    """Who may decide: `entitled`, and nobody else. `asker` asked for the call."""

    name: str
    tool: str
    effect: Effect
    asker: str
    entitled: frozenset[str]
    chosen: tuple[str, ...] = ()
    self_approval: bool = True

    def rights(self, identity: Callable[[str], Identity]) -> Rights:
        return Rights(frozenset(map(identity, self.chosen)), self.self_approval)


RULES: Final = (
    Rule("as it comes", "shell", Effect.DANGER, "uma", frozenset({"ada", "otto", "olga"})),
    Rule("one approver", "write", Effect.WRITE, "uma", frozenset({"vic"}), ("vic",)),
    Rule("not oneself", "shell", Effect.DANGER, "otto", frozenset({"ada", "olga"}), self_approval=False),
)


@dataclass(frozen=True, slots=True)
class Press:
    """One press of a button on the card in `room`; with a `reason` or `values` the form behind it is sent.

    `alone`: the platform vouches that nobody else saw what was pressed; only where a wire `has_alone`.
    """

    who: str
    payload: str
    reason: str | None = None
    twist: Twist | None = None
    what: str = ""
    values: Mapping[str, str] | None = None
    room: int = HERE
    alone: bool = False

    def __str__(self) -> str:
        how = "presses" if self.reason is None and self.values is None else "sends the form of"
        where = f" in room {self.room}" * bool(self.room) + " alone" * self.alone
        filled = f" with {dict(self.values)}" if self.values is not None else ""
        return f"{self.who} {how} {self.what}: {self.payload[:80]!r}{filled}{where}"


WORDS: Final = (
    "done",
    "again",
    "skip",
    "user",
    "viewer",
    "operator",
    "no",
    "other",
    "yes",
    "APPROVE",
    "approve ",
    "",
    "0",
)
"""Answers that no button of a call has."""


def forged(question: str, elsewhere: str) -> Mapping[str, str]:
    """Payloads that decide nothing, whoever presses: by their names. `elsewhere` is open in another room."""
    ids = {**_cut_ids(question), **_spoilt_ids(question), **_other_ids(question, elsewhere)}
    return {
        **{name: f"{made}:approve" for name, made in ids.items()},
        **{f"{name}, denied": f"{made}:deny" for name, made in ids.items()},
        **{f"the answer {word!r}": f"{question}:{word}" for word in WORDS},
        **_misshapen(question),
    }


def _cut_ids(question: str) -> Mapping[str, str]:
    return {
        "an id without its first": question[1:],
        "an id without its last": question[:-1],
        "half an id": question[: len(question) // 2],
        "an id with more before": f"0{question}",
        "an id with more behind": f"{question}0",
        "an id twice": question * 2,
        "an id with a space": f" {question}",
        "an id with a line end": f"{question}\n",
        "an id with a nul": f"{question}\0",
        "half a character": f"{question}\ud800",
    }


def _spoilt_ids(question: str) -> Mapping[str, str]:
    mid = len(question) // 2
    other = "0" if question[mid] != "0" else "1"
    return {
        "an id with one changed": question[:mid] + other + question[mid + 1 :],
        "an id turned round": question[::-1],
        "an id in other case": question.swapcase(),
        "an id that joins": f"{question[:mid]}\u200d{question[mid:]}",
        "an id in wide letters": "".join(chr(ord(c) + 0xFEE0) if c.isascii() and c.isalnum() else c for c in question),
    }


def _other_ids(question: str, elsewhere: str) -> Mapping[str, str]:
    return {
        "an unknown id": new_id(),
        "an id of naughts": "0" * len(question),
        "two ids": f"{question},{elsewhere}",
        "a pattern": "%",
        "a pattern as long": "_" * len(question),
        "a statement": "' OR 1=1 --",
        "a path": f"../{question}",
        "an endless id": "9" * 5_000,
        "nothing": "",
        "the id elsewhere": elsewhere,
    }


def _misshapen(question: str) -> Mapping[str, str]:
    """Payloads that are no id and an answer."""
    return {
        "no colon": question,
        "a colon alone": ":",
        "the other way round": f"approve:{question}",
        "two answers": f"{question}:approve:deny",
        "no colon between": f"{question}approve",
        "json": json.dumps({"approval": question, "choice": "approve"}),
        "an answer without end": f"{question}:{'approve' * 1_000}",
        "an answer in capitals with a line end": f"{question}:approve\n",
    }
