"""Questions of approvers to the agent about its call, and its answers: on a card, and for the model. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Final

from runtime.chat.cards.card_facts import home_of
from runtime.chat.cards.exchanges import Exchange, exchanges
from runtime.domain.approvals import Approval, Home
from runtime.domain.transcript import OURS
from runtime.text.glyphs import clip, in_a_line, plainly
from runtime.text.words import listed, marked, say, several

QUESTIONS_SHOWN: Final = (160, 80)
"""Characters of the newest question on a card, and of the one before; a card has room for no more."""
ANSWERS_SHOWN: Final = (500, 240)
"""The same of their answers."""
CONSOLE: Final = marked("the console")
CALL_MAX_CHARS: Final = 1_000
"""Of the call in the words for the model, which has all of it in its transcript."""


def told(approval: Approval, *, home: bool) -> str:
    """Beneath the call: questions and answers at home, since they may tell of the room; elsewhere where to read them."""
    found = exchanges(approval.card)
    if not found:
        return ""
    if not home:
        return _told_elsewhere(approval, found)
    shown = list(zip(reversed(found), QUESTIONS_SHOWN, ANSWERS_SHOWN, strict=False))
    earlier = len(found) - len(shown)
    where = say("is in a message of its own") if earlier == 1 else say("are in messages of their own")
    before = [f"{several(earlier, 'earlier answer')} {where}."] if earlier else []
    return "\n\n".join([*before, *(part for one in reversed(shown) for part in _shown(*one))])


def in_whole(approval: Approval, number: int) -> list[str]:
    """Messages for the room once an answer came: all of what the card shows only in part, or no more, each told once."""
    if home_of(approval) is Home.TOLD:
        return []
    found = [one for one in exchanges(approval.card) if one.answer]
    long = [one for one in found if one.number == number and len(one.answer) > ANSWERS_SHOWN[-1]]
    gone = [one for one in found[: -len(ANSWERS_SHOWN)][-1:] if len(one.answer) <= ANSWERS_SHOWN[-1]]
    return [
        say(
            "**{by} asked** about `{tool}`: “{question}” The agent answered:\n\n{answer}",
            by=plainly(one.by),
            tool=approval.tool,
            question=plainly(one.question),
            answer=_quoted(one.answer),
        )
        for one in (*gone, *long)
    ]


def _told_elsewhere(approval: Approval, found: list[Exchange]) -> str:
    names = listed(list(dict.fromkeys(plainly(one.by) for one in found)))
    if home_of(approval) is Home.TOLD:
        where = CONSOLE
    else:
        where = plainly(json.loads(approval.card).get("room", "")) or say("the room where it was asked")
    if any(one.is_open for one in found):
        return (
            say("{names} asked a question; the answer will be in {where}.", names=names, where=where)
            if where != CONSOLE
            else _on_console(names)
        )
    if all(one.failed for one in found):
        return say("{names} asked a question and got no answer. You can ask again.", names=names)
    return (
        say("{names} asked a question; the answer is in {where}.", names=names, where=where)
        if where != CONSOLE
        else _on_console(names)
    )


def _on_console(names: str) -> str:
    return say(
        "{names} asked a question; operators can read the answer on {console}.", names=names, console=say(CONSOLE)
    )


def _shown(one: Exchange, question: int, answer: int) -> Iterator[str]:
    words, _ = _fitting(one.question, question, plainly)
    asked = say("**{by} asked**: “{words}”", by=plainly(one.by), words=words)
    if one.is_open:
        yield say("{asked} The agent is answering.", asked=asked)
    elif one.failed:
        yield say("{asked} No answer: {failed}", asked=asked, failed=plainly(one.failed))
    else:
        yield say("{asked} The agent answered:", asked=asked)
        text, left = _fitting(one.answer, answer, _quoted)
        yield (
            say("{text}\n>\n> ({left}, in a message of its own)", text=text, left=several(left, "more character"))
            if left
            else text
        )


def _quoted(text: str) -> str:
    """The agent's words, which no mark-up in them can leave."""
    return "\n>\n".join(f"> {plainly(line)}" for line in text.splitlines() if line.strip())


def _fitting(text: str, most: int, draw: Callable[[str], str]) -> tuple[str, int]:
    """`text` as `draw` shows it in at most `most` characters, of a long one the beginning; and how many are left out."""
    kept = min(len(text), most)
    while len(drawn := draw(clip(text, kept))) > most and kept > 1:
        kept = min(kept - 1, kept * most // len(drawn))
    return drawn, len(text) - kept


def to_model(approval: Approval, one: Exchange) -> str:
    """The question for the model. The words of people stand in quotation marks, as JSON."""
    call = f"{approval.tool} {in_a_line(approval.arguments, CALL_MAX_CHARS)}"
    return (
        f"{OURS}Your call {call} waits for people to decide. {json.dumps(one.by, ensure_ascii=False)}, who may decide it, "
        f"asks you: {json.dumps(one.question, ensure_ascii=False)}\n"
        "Answer for people, in plain words, in at most 80 of them. You can call no tools now, and your answer neither "
        "runs nor changes the call: it helps them to decide. Say so where you don't know."
    )
