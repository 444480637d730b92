"""Long work by a plan: `PLAN.md`, which people and the agent write, and `PROGRESS.md`, which is written from the record. No I/O.

The files are for whoever reads them. Work goes on by the record alone: the contract is frozen as it begins, so nothing that is
written into a file later makes it easier.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from runtime.contract import Json
from runtime.domain.goals.contract import (
    MICROS_OF_A_DOLLAR,
    PLAN_FILE,
    PROGRESS_FILE,
    Contract,
    GoalBounds,
    GoalError,
    GoalKind,
    contract_of,
    counted,
)
from runtime.domain.goals.progress import CLOCK_ID, GoalStanding, GoalTurn, Piece, call_id
from runtime.domain.goals.words import last_words
from runtime.domain.workflows.progress import Result
from runtime.text.glyphs import clip
from runtime.text.words import marked

PLAN_STEPS_MAX: Final = 30
PLAN_MAX_CHARS: Final = 20_000
STEP_MAX_CHARS: Final = 300
ANSWER_NOTED_CHARS: Final = 1_500
"""Characters of a turn's answer in PROGRESS.md."""
SECTION: Final = re.compile(r"^#{1,6}\s+(?P<name>.+?)\s*:?\s*$")
STEP_LINE: Final = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+(?:\[(?P<mark>[ xX])\]\s*)?(?P<text>\S.*)$")
TITLE, STEPS, BOUNDS = "plan", "steps", "bounds"
OF_THE_CONTRACT: Final = (
    "verify",
    "verified by",
    "criteria",
    "done when",
    "constraints",
    "keep to",
    "never",
    "stop when",
)
NO_OUTCOME: Final = marked("{file} doesn't say what is to come of it. Write that below its title.").format(
    file=PLAN_FILE
)
NO_PLAN: Final = f"There is no {PLAN_FILE} for this room. Begin with `signalbox harness init`."
CHECKPOINT: Final = re.compile(r"\bcheckpoint (?P<commit>[0-9a-f]{7,64})\b", re.IGNORECASE)


# ------------------------------------------------------------------------------------------------------------- PLAN.md


def plan_of(text: str, bounds: GoalBounds, own_model: str = "") -> Contract:
    """The contract that a plan makes. Errors: GoalError says what is wrong with it."""
    if len(text) > PLAN_MAX_CHARS:
        raise GoalError(
            f"{PLAN_FILE} has more than {PLAN_MAX_CHARS:,} characters. Put the rest into files that it names."
        )
    lines, steps = _parted(text)
    if not any(line.strip() for line in lines):
        raise GoalError(NO_OUTCOME)
    contract = contract_of("\n".join(lines), bounds, own_model)
    return replace(contract, kind=GoalKind.HARNESS, steps=tuple(steps))


def _parted(text: str) -> tuple[list[str], list[str]]:
    """Lines of the contract, as a goal is written in a chat, and the steps."""
    lines, steps, section = list[str](), list[str](), TITLE
    for line in text.splitlines():
        if heading := SECTION.match(line):
            section = heading["name"].casefold()
            if section in OF_THE_CONTRACT:
                lines.append(f"{section}:")
            elif section not in (TITLE, STEPS, BOUNDS):
                lines.append(line)
        elif section == STEPS:
            if (found := STEP_LINE.match(line)) and len(steps) < PLAN_STEPS_MAX:
                steps.append(clip(" ".join(found["text"].split()), STEP_MAX_CHARS))
        elif section == BOUNDS:
            lines.append(line.strip().lstrip("-*+• "))
        else:
            lines.append(line)
    return lines, steps


def plan_text(contract: Contract) -> str:
    """The file, such that `plan_of` reads the same of it."""
    money = contract.budget_micros / MICROS_OF_A_DOLLAR
    bounds = [
        f"turns: {contract.turns}",
        f"within: {contract.minutes} minutes",
        f"budget: {money:.2f}" if money else "",
    ]
    parts = [
        "# Plan",
        contract.outcome,
        _section("Verify", contract.criteria),
        _section("Keep to", contract.constraints),
        f"## Stop when\n\n{contract.stop_when}" if contract.stop_when else "",
        _section("Bounds", [one for one in bounds if one]),
        _section("Steps", [f"[ ] {one}" for one in contract.steps]),
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def _section(name: str, lines: Sequence[str]) -> str:
    return "\n".join([f"## {name}", "", *(f"- {line}" for line in lines)]) if lines else ""


# --------------------------------------------------------------------------------------------------------- PROGRESS.md


def progress_text(at: GoalStanding) -> str:
    """The file as the record has it now: each turn with its verdict, its answer and its checkpoint."""
    if not at.turns:
        begun = _checkpoint(at.bootstrap)
        return "\n\n".join(filter(None, ["# Progress", "Nothing was done yet.", begun])) + "\n"
    head = f"{counted(len(at.turns), at.contract.turn_word)} of {at.contract.turns}. This file is written by itself."
    return "\n\n".join(["# Progress", head, *map(_turn_noted, at.turns)]) + "\n"


def _turn_noted(turn: GoalTurn) -> str:
    critique = "\n".join(f"> {line}" for line in turn.critique.splitlines())
    answer = clip(turn.candidate.strip(), ANSWER_NOTED_CHARS)
    parts = [f"## Turn {turn.number}: {word_of(turn)}", critique, _quoted(answer), _checkpoint(turn.saved)]
    return "\n\n".join(filter(None, parts))


def word_of(turn: GoalTurn) -> str:
    if turn.failure:
        return "failed"
    return "accepted" if turn.verdict and turn.verdict.passed else "not accepted"


def _quoted(text: str) -> str:
    """An answer, whose headings are none of this file."""
    return "\n".join(f"    {line}" for line in text.splitlines())


def _checkpoint(told: str) -> str:
    if commit := commit_in(told):
        return f"Checkpoint: `{commit}`"
    why = clip(" ".join(told.split()), 200)
    return why and f"No checkpoint: {why.removeprefix('no checkpoint: ')}"


def commit_in(told: str) -> str:
    """The commit that a checkpoint names; empty where there is none."""
    found = CHECKPOINT.search(told)
    return found["commit"] if found else ""


def saving(at: GoalStanding) -> dict[str, Json]:
    """Arguments of the call that writes the files and makes a checkpoint. PLAN.md is written once: it's the agent's from then on."""
    progress = progress_text(at)
    if not at.turns:
        files: dict[str, Json] = {PLAN_FILE: plan_text(at.contract), PROGRESS_FILE: progress}
        return {"turn": 0, "title": "The plan", "files": files, "wrote": PLAN_FILE}
    last = at.turns[-1]
    title = f"Turn {last.number}: {word_of(last)}"
    return {"turn": last.number, "title": title, "files": {PROGRESS_FILE: progress}, "wrote": PROGRESS_FILE}


# -------------------------------------------------------------------------------------------------------------- its end


def harness_words(at: GoalStanding, resumed_by: str) -> str:
    """Last words of long work: its result, its checkpoints, and how it goes on."""
    saved = [commit for one in (at.bootstrap, *(turn.saved for turn in at.turns)) if (commit := commit_in(one))]
    kept = f"Checkpoints: {len(saved)} in git, the last is `{saved[-1]}`." if saved else ""
    is_met = bool(at.turns and at.turns[-1].verdict and at.turns[-1].verdict.passed)
    best = commit_in(at.best.saved) if at.best and not is_met else ""
    shown = f"The best result is that of `{best}`." if best and best != saved[-1] else ""
    on = "" if is_met else f"`signalbox harness resume {resumed_by}` goes on with it."
    return "\n\n".join(filter(None, [last_words(at), " ".join(filter(None, [kept, shown, on]))]))


# --------------------------------------------------------------------------------------------------------------- resume


def carried_on(
    at: GoalStanding, results: Mapping[str, Result], turns_of_the_run: int
) -> tuple[Contract, dict[str, Json]]:
    """The contract and the results with which another run goes on. What failed at the end is done again, and its time begins anew.

    `turns_of_the_run` are those that the run could make; so many more there are where none is left.
    """
    dropped = {CLOCK_ID, *_failed_at_the_end(at.turns, results)}
    done: dict[str, Json] = {
        key: {"text": one.text, "failed": one.failed} for key, one in results.items() if key not in dropped
    }
    finished = sum(bool(turn.saved) for turn in at.turns if call_id(Piece.WORK, turn.number) not in dropped)
    more = at.contract.turns if finished < at.contract.turns else finished + turns_of_the_run
    return replace(at.contract, turns=more), done


def _failed_at_the_end(turns: Sequence[GoalTurn], results: Mapping[str, Result]) -> Iterator[str]:
    """Calls of the turns that failed one after another at the end, and those that failed of one that was cut short."""
    for turn in reversed(turns):
        keys = [call_id(piece, turn.number) for piece in Piece]
        if turn.failure:
            yield from keys
        elif not turn.saved:
            yield from (key for key in keys if key in results and results[key].failed)
        else:
            return


def carried(raw: Json) -> dict[str, Result]:
    """Results of an earlier run, as they were frozen."""
    if not isinstance(raw, dict):
        return {}
    return {key: Result(str(one["text"]), bool(one["failed"])) for key, one in raw.items() if isinstance(one, dict)}
