"""The built-in model: the whole product with no key and no network.

It understands a few phrases, calls real tools for them and answers from the results. The same request always gives
the same reply: no randomness, no clock, no memory but the transcript.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Final

from runtime.contract import (
    FIND_TOOLS,
    AssistantTurn,
    Call,
    ModelReply,
    ModelRequest,
    OnText,
    Reasoning,
    ToolTurn,
    Turn,
    Usage,
    UserTurn,
)
from runtime.domain.transcript import RECORD_BEGINS, RECORD_ENDS
from runtime.models.demo_phrases import (
    AUTHOR,
    WHAT_I_KNOW,
    Wish,
    asks_for_help,
    asks_to_obey,
    asks_what_waits,
    attached,
    finding,
    lines,
    missing,
    pondered,
    told_later,
    wish,
    wishes_of,
    without_finding,
)
from runtime.models.demo_plans import due_in, report, unless_told
from runtime.models.demo_telling import inline, is_waiting, outcome, purpose
from runtime.models.images import NO_IMAGES, has_files, kinds
from runtime.models.phrases.goals import of_goal
from runtime.models.phrases.memories import kept_in, proposed
from runtime.text.glyphs import bound

I_AM: Final = "I'm the demo model built into Signalbox: no network, no key, and no understanding of my own."
RECORD_LINES: Final = 30
RECORD_LINE: Final = 200
"""Lines of a summary, and characters of each."""

ECHO_BOUND: Final = 4_000
"""Characters of a person's words that are said back."""

# -------------------------------------------------------------------------------------------------- the transcript


@dataclass(frozen=True, slots=True)
class Batch:
    """The calls of one assistant turn with their results. `begin` and `end` are places in the transcript."""

    begin: int
    end: int
    pairs: tuple[tuple[Call, str], ...]
    interrupted: bool  # somebody spoke before the answer to it

    @property
    def waits(self) -> bool:
        return any(is_waiting(result) for _, result in self.pairs)

    def answer(self) -> str:
        return "\n\n".join(dict.fromkeys(outcome(call, result) for call, result in self.pairs))


def batches(turns: Sequence[Turn]) -> list[Batch]:
    return [
        batch(turns, place, turn) for place, turn in enumerate(turns) if isinstance(turn, AssistantTurn) and turn.calls
    ]


def batch(turns: Sequence[Turn], begin: int, asked: AssistantTurn) -> Batch:
    answers = list(takewhile(lambda turn: isinstance(turn, ToolTurn), turns[begin + 1 :]))
    results = {turn.call_id: turn.text for turn in answers if isinstance(turn, ToolTurn)}
    end = begin + 1 + len(answers)
    pairs = tuple((call, results.get(call.id, "")) for call in asked.calls)
    return Batch(begin, end, pairs, interrupted=end < len(turns) and isinstance(turns[end], UserTurn))


def was_told(turns: Sequence[Turn], done: Batch) -> bool:
    """True if an answer after `done` already shows it."""
    return any(isinstance(turn, AssistantTurn) and done.answer() in turn.text for turn in turns[done.end :])


# ----------------------------------------------------------------------------------------------------------- replying


def think(
    turns: Sequence[Turn], images: Mapping[str, str] = NO_IMAGES, *, keeps: bool = False
) -> tuple[str, list[Wish]]:
    """The words of the reply, or what it asks for. `images` are types of images by path; `keeps`: a summary lists facts too."""
    if told := record_in(turns, keeps=keeps) or of_goal(turns):
        return told, []
    last = max((i for i, turn in enumerate(turns) if isinstance(turn, AssistantTurn)), default=-1)
    wishes = [found for line in lines(turns[last + 1 :]) for found in wishes_of(line, turns)]
    if wishes:
        return "", wishes
    text, work = answer(turns, images), due_in(turns)
    return unless_told(work, text) if work else text, []


def record_in(turns: Sequence[Turn], *, keeps: bool = False) -> str:
    """The summary of a conversation, where one is wanted: what people said, a line each, the newest."""
    whole = turns[-1].text if len(turns) == 1 else ""
    if not whole.startswith(RECORD_BEGINS):
        return ""
    told = whole.partition(RECORD_BEGINS)[2].partition(RECORD_ENDS)[0].splitlines()
    if kept := kept_in(told):
        return "\n".join(kept)
    said = [line.strip() for line in told if line.strip() and not line.startswith(("assistant", "result of"))]
    facts = proposed([AUTHOR.sub("", line, count=1) for line in said]) if keeps else []
    listed = ["Said so far:", *(f"- {bound(line, RECORD_LINE)}" for line in said[-RECORD_LINES:])]
    return "\n".join([*listed, *(["", "Keep:", *facts] if facts else [])])


def answer(turns: Sequence[Turn], images: Mapping[str, str]) -> str:
    """Everything not answered yet: results of tools first, then what was said.

    A call that waits for people, with others speaking meanwhile, is left to the run that asked for it: that run
    tells of it once it goes on, which is after later turns of this transcript.
    """
    all_batches = batches(turns)
    parked = [b for b in all_batches if b.waits and b.interrupted]
    start = max([last_answer(turns) + 1, *(b.end for b in parked)])
    untold = [b for b in all_batches if b not in parked and (b.begin >= start or is_untold(turns, b))]
    heard = list(lines(turns[start:]))
    said = [line for line in heard if not (wish(line) or attached(line) or (untold and asks_to_obey(line)))]
    lost = missing(turns[start:])
    came = [file for file in map(attached, heard) if file and file not in lost]
    files = [] if any(map(wish, heard)) else came
    paragraphs = [
        *(b.answer() for b in untold),
        *told_later(turns[start:]),
        *(report(said, work) if (work := due_in(turns)) else small_talk(said)),
        *received(files, images),
        *regrets(lost),
        *reminders(said, parked),
    ]
    return "\n\n".join(paragraphs) or "There is nothing left to answer."


def explained(turns: Sequence[Turn]) -> str:
    """Explanation of the calls that wait: the words of the person before them."""
    waiting = next((done for done in reversed(batches(turns)) if done.waits), None)
    if waiting is None:
        return "I'm not waiting for any answer."
    said = [line for line in lines(turns[: waiting.begin]) if wish(line)]
    asked = f"You asked me “{bound(said[-1], 300)}”. " if said else ""
    calls = " ".join(purpose(call) for call, result in waiting.pairs if is_waiting(result))
    return f"{asked}{calls} Nothing else led to it: I understand phrases, and have no reasons of my own."


def last_answer(turns: Sequence[Turn]) -> int:
    """Index of the last assistant turn without calls; -1 when there is none."""
    finals = (i for i, turn in enumerate(turns) if isinstance(turn, AssistantTurn) and not turn.calls)
    return max(finals, default=-1)


def is_untold(turns: Sequence[Turn], done: Batch) -> bool:
    return done.interrupted and not was_told(turns, done)


def small_talk(said: Sequence[str]) -> Iterator[str]:
    subjects = [subject for line in said if (subject := pondered(line))]
    if subjects:
        yield f"I've thought about {' and '.join(bound(one, 300) for one in subjects)}. `/think` shows what I thought."
    chat = [line for line in said if not asks_for_help(line) and not pondered(line)]
    if chat:
        yield f"{I_AM} You said:\n\n{bound(quote(chat), ECHO_BOUND)}\n\nSay `help` to see what I can do."
    if any(map(asks_for_help, said)):
        yield f"{I_AM} I understand:\n\n{WHAT_I_KNOW}"


def quote(said: Iterable[str]) -> str:
    return "\n".join(f"> {line}  " for line in said).rstrip()


def received(files: Sequence[str], images: Mapping[str, str]) -> Iterator[str]:
    """For files that came without a wish."""
    seen = [f"{inline(file)} ({images[file]})" for file in files if file in images]
    if seen:
        yield f"I was shown {' and '.join(seen)}, but I can't see. A real model could."
    others = [file for file in files if file not in images]
    if others:
        drawn = f", or {inline(f'chart the file {others[0]}')} to see it drawn" if others[0].endswith(".csv") else ""
        yield f"I have {' and '.join(map(inline, others))} now. Say {inline(f'read {others[0]}')} to see what is in it{drawn}."


def regrets(lost: Mapping[str, str]) -> Iterator[str]:
    yield from (f"{inline(file)} didn't arrive: {why}." for file, why in lost.items())


def reminders(said: Sequence[str], parked: Iterable[Batch]) -> Iterator[str]:
    """Open questions, for someone who asks about them."""
    if any(map(asks_what_waits, said)):
        for batch in parked:
            yield from (outcome(call, result) for call, result in batch.pairs if is_waiting(result))


# ----------------------------------------------------------------------------------------------------------- the model


class Demo:
    """The demo model. Tokens are words; it costs nothing."""

    name = "demo"

    async def reply(self, request: ModelRequest, on_text: OnText) -> ModelReply:
        images = await asyncio.to_thread(kinds, request) if has_files(request) else NO_IMAGES
        text, wishes = (
            (explained(request.turns), [])
            if request.words_only
            else think(without_finding(request.turns), images, keeps="heading Keep" in request.system)
        )
        offered = {tool.name for tool in request.tools}
        missing = sorted({w.tool for w in wishes} - offered)
        if missing and not (FIND_TOOLS in offered and (wishes := finding(missing, request.turns))):
            text, wishes = f"I'd need {' and '.join(map(inline, missing))} for that, which I don't have here.", []
        for so_far in growing(text):
            on_text(so_far)
            await asyncio.sleep(0)  # so that others see the text grow
        calls = numbered(wishes, request.turns)
        spent = Usage("demo", words_in(request), words(text, *(c.arguments for c in calls)))
        return ModelReply(text, calls, spent, reasoning=None if request.words_only else mused(request.turns))


def mused(turns: Sequence[Turn]) -> Reasoning | None:
    """Thinking about what people since the last answer wanted thought about."""
    since = lines(turns[last_answer(turns) + 1 :])
    subjects = [bound(subject, 300) for line in since if (subject := pondered(line))]
    thoughts = (
        f"I was asked to think about {subject}. That doesn't need a tool, so I'll just answer." for subject in subjects
    )
    return Reasoning("\n\n".join(thoughts), "demo") if subjects else None


def growing(text: str) -> Iterator[str]:
    """`text` in up to four steps, each with one more part of its words."""
    ends = [found.end() for found in re.finditer(r"\S+\s*", text)]
    for quarter in range(1, 5):
        count = len(ends) * quarter // 4
        if count > len(ends) * (quarter - 1) // 4:
            yield text[: ends[count - 1]]


def numbered(wishes: Iterable[Wish], turns: Sequence[Turn]) -> tuple[Call, ...]:
    """The calls, with ids above all in `turns`: counted, so that the same request gives the same ids."""
    ids = [call.id for turn in turns if isinstance(turn, AssistantTurn) for call in turn.calls]
    used = [int(found[1]) for found in map(re.compile(r"demo-(\d+)").match, ids) if found]
    first = max([len(ids), *used]) + 1
    return tuple(
        Call(f"demo-{number}", w.tool, json.dumps(dict(w.arguments), ensure_ascii=False))
        for number, w in enumerate(wishes, first)
    )


def words(*texts: str) -> int:
    return sum(len(text.split()) for text in texts)


def words_in(request: ModelRequest) -> int:
    return words(request.system, *(turn.text for turn in request.turns))
