"""Goals as the demo model understands them: it sets them, writes criteria down, plans, and judges by the words that it finds."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Final

from runtime.contract import Json, Turn, UserTurn
from runtime.domain.goals.words import HOW_TO_PLAN
from runtime.domain.quality.gate import HOW_TO_JUDGE, HOW_TO_MAKE
from runtime.text.glyphs import bound

# As `demo_phrases.PHRASES` has them. The group `aims` becomes the text of a goal, see `aimed`.
GOALS: Final[Sequence[tuple[str, str, Mapping[str, Json]]]] = (
    (r"(?:set a |the )?goal:\s*(?P<aims>.+)", "goal_set", {}),
)
WHAT_I_AIM_AT: Final = (
    "- `goal: GOAL; verify: it mentions WORD; turns: 3`: I work on it until the judge, me again, accepts it"
)
BETWEEN_PARTS: Final = re.compile(r"\s*;\s*")
MENTIONS: Final = re.compile(
    r"(?:mentions?|says?|names?|contains?|shows?)\s+[\"“'`]?(?P<word>[^\"”'`]+?)[\"”'`]?$", re.IGNORECASE
)
FILE: Final = re.compile(r"[\w./-]+\.\w{1,5}")
IN_VAIN: Final = ("I couldn't", "I wasn't allowed", "I'd need", "no understanding of my own", "(nothing)")
"""Words of this model for what came to nothing."""
A_TURN: Final = re.compile(r"\n\n\[(?:Turn|Sprint) \d+ of \d+ for this goal\.")
HINTS: Final = re.compile(r"the judge says:\]\n(?P<hints>.*?)(?:\n\n|\Z)", re.DOTALL)
HINT: Final = "read "
"""Begins a line of critique that names a phrase."""
ABOUT_CHARS: Final = 100


def aimed(groups: Mapping[str, str]) -> dict[str, Json]:
    """Arguments that set a goal: its parts, a line each.

    >>> aimed({"aims": "list the files; verify: it mentions a.txt; turns: 3"})
    {'text': 'list the files\\nverify: it mentions a.txt\\nturns: 3'}
    """
    return {"text": "\n".join(BETWEEN_PARTS.split(groups["aims"].strip()))}


def asked_in_turn(text: str) -> str:
    """The part of a message that asks for something: of a goal's turn the goal, and what the judge says would help.

    >>> asked_in_turn(
    ...     "list the files\\n\\n[Turn 2 of 3 for this goal. Do it.]\\n\\n[About it, the judge says:]\\nread a.txt\\n- not met: b"
    ... )
    'list the files\\nread a.txt'
    """
    if not (found := A_TURN.search(text)):
        return text
    hints = told["hints"].splitlines() if (told := HINTS.search(text)) else []
    return "\n".join([text[: found.start()], *(line for line in hints if line.startswith(HINT))])


def of_goal(turns: Sequence[Turn]) -> str:
    """The answer where criteria, a plan or a verdict are wanted; empty elsewhere."""
    text = turns[0].text if len(turns) == 1 and isinstance(turns[0], UserTurn) else ""
    if HOW_TO_MAKE in text:
        goal = bound(text.partition("The goal:\n")[2].strip(), ABOUT_CHARS)
        return f"- It answers “{goal}”\n- It shows what came of it\n- It isn't an excuse"
    if HOW_TO_PLAN in text:
        goal = text.partition(HOW_TO_PLAN)[0].strip().rpartition("\n\n")[2]
        return f"1. {bound(goal, ABOUT_CHARS)}\n2. Tell what came of it"
    return verdict_on(text) if HOW_TO_JUDGE in text else ""


def verdict_on(text: str) -> str:
    """A verdict on the block at the end: each word that a criterion has it mention must stand there, and no excuse.

    >>> verdict_on("Criteria:\\n- it mentions 7\\n\\nWhat is judged:\\n```\\n8\\n```")
    '{"verdict": "FAIL", "score": 0, "unmet": ["it mentions 7"], "critique": "It doesn\\'t mention 7."}'
    """
    head, _, shown = text.rpartition("What is judged:\n")
    listed = head.rpartition("Criteria:\n")[2].partition("\n\n")[0].splitlines()
    criteria = [line.removeprefix("- ") for line in listed if line.startswith("- ")]
    words = {one: found["word"] for one in criteria if (found := MENTIONS.search(one))}
    unmet = [one for one, word in words.items() if word.lower() not in shown.lower()]
    if excuse := next((one for one in IN_VAIN if one in shown), ""):
        unmet = unmet or criteria[-1:]
        return _told(unmet, len(criteria), f"It came to nothing: “{excuse}”.")
    return _told(unmet, len(criteria), "\n".join(_hint(words[one]) for one in unmet))


def _hint(word: str) -> str:
    """A phrase that would help, where there is one: whoever goes on understands it."""
    return f"{HINT}{word}" if FILE.fullmatch(word) else f"It doesn't mention {word}."


def _told(unmet: Sequence[str], criteria: int, critique: str) -> str:
    if not unmet:
        return json.dumps({"verdict": "PASS", "score": 10})
    score = round(10 * (1 - len(unmet) / max(criteria, 1)))
    verdict = {"verdict": "FAIL", "score": score, "unmet": list(unmet), "critique": critique}
    return json.dumps(verdict, ensure_ascii=False)
