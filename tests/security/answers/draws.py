"""Presses and forms, drawn: by whom, about what, from where, with which words. Most of them must count for nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

from runtime.contract import FORM_CHOICES, REASON, Choice
from tests.security.answers.books import ASK, FORBIDDEN, LAST_DAY, LEADS, OVER, TOO_FAR, Question
from tests.security.presses import HERE, PEOPLE, ROBOT, THERE, Press

ANSWERS: Final = (Choice.FIRST, Choice.SECOND, Choice.THIRD, Choice.FOURTH, Choice.TEXT)
CALLS: Final = (Choice.APPROVE, Choice.DENY, Choice.EDIT, Choice.CONVERSATION, Choice.ALWAYS, Choice.ALL)
GRANTS: Final[Sequence[Mapping[str, str]]] = (
    {"where": "this room", "uses": "1"},
    {"where": "everywhere", "until": LAST_DAY},
    {"until": TOO_FAR},
    {"until": OVER},
    {"until": "tomorrow"},
    {"uses": "0"},
    {"uses": "10000"},
    {"uses": "10001"},
    {"uses": "-1"},
    {"uses": "٣x"},
    {"where": "the moon"},
    {"pattern": "command = *"},
    {"pattern": "*"},
    {"pattern": "other = x"},
)
REASONS: Final = ("because", " ", "not like this\nbut like that")


@dataclass(frozen=True)
class Draws:
    """Draws for one wire. `has_alone`: its platform vouches for what is seen by one person alone; `has_blanks`: it sends
    a form with nothing in it.
    """

    chance: Random
    has_alone: bool
    has_blanks: bool

    def press(self, live: Sequence[Question], gone: Sequence[Question], foreign: str) -> Press:
        """About one of `live`, perhaps one of `gone`; or the `foreign` one, which is open in another room."""
        about = (
            self.chance.choice(live) if live and (not gone or self.chance.random() < 0.8) else self.chance.choice(gone)
        )
        choice, shown = self._choice(about), self._id(about, foreign)
        is_foreign = shown == foreign  # which counts where it is at home
        return Press(
            who=self._who(about),
            payload=f"{shown}:{choice}",
            values=self._values(about, choice),
            room=HERE if is_foreign or self.chance.random() < 0.85 else THERE,
            alone=self.has_alone and not is_foreign and self.chance.random() < 0.2,
            what=f"{about.tool} of {about.asker}, {about.state}",
        )

    def _who(self, about: Question) -> str:
        if self.chance.random() < 0.35:
            return self.chance.choice([about.asker, *sorted(LEADS)])
        return self.chance.choice([who for who in PEOPLE if who != ROBOT])

    def _id(self, about: Question, foreign: str) -> str:
        if self.chance.random() < 0.7:
            return about.shown
        made = [about.id, f"{about.id}~0", f"{about.id}~{about.edits + 1}", f"{about.id}~{max(about.edits - 1, 0)}"]
        return self.chance.choice([*made, f"{about.id}~", f"{about.id}~x", f"{about.id}~-1", about.id[1:], foreign])

    def _choice(self, about: Question) -> Choice:
        if self.chance.random() < 0.1:
            return self.chance.choice(list(Choice))
        if about.tool == ASK:
            return self.chance.choice(ANSWERS)
        if about.state == "approved" and self.chance.random() < 0.6:
            return Choice.UNDO
        return self.chance.choice(CALLS)

    def _values(self, about: Question, choice: Choice) -> Mapping[str, str] | None:
        match choice:
            case Choice.EDIT:
                return self._edit(about)
            case Choice.ALWAYS:
                return self.chance.choice(GRANTS)
            case Choice.DENY if self.chance.random() < 0.5:
                return self._reason()
            case Choice.TEXT:
                return self._reason()
            case _ if choice in FORM_CHOICES:
                return {REASON: "why?"}
            case _:
                return None

    def _reason(self) -> Mapping[str, str]:
        return {REASON: self.chance.choice([one for one in REASONS if self.has_blanks or one.strip()])}

    def _edit(self, about: Question) -> Mapping[str, str]:
        other = f"{about.command}{self.chance.randrange(10)}"
        return self.chance.choice(
            (
                {"argument": other},
                {"arguments": json.dumps({"command": other})},
                {"argument": about.command},
                {"argument": f"{FORBIDDEN} {other}"},
                {"arguments": json.dumps({"command": other, "also": "this"})},
                {"arguments": json.dumps({"command": 7})},
                {"arguments": json.dumps([other])},
                {"arguments": "{"},
                {"command": other},
            )
        )
