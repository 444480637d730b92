"""The tool that asks a person and waits for the answer; it does nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Final

from runtime.contract import Asking, Effect, Flow, Json, Reads, ToolContext
from runtime.errors import ToolFailed, ToolRetry
from tools.kit.declare import tool

QUESTION_MAX_CHARS: Final = 1000
OPTION_MAX_CHARS: Final = 200
FEWEST: Final = 2  # with one answer there is nothing to choose
MOST: Final = 4  # buttons
POINT: Final = "- "
"""Begins a point of a question."""


@tool(effect=Effect.READ, flow=Flow(Reads.OURS, carries={}))
def ask_person(
    question: Annotated[str, "In one sentence."],
    context: ToolContext,
    options: Annotated[list[str] | None, "2-4 short answers; none for free text."] = None,
    to: Annotated[str, "A name, or 'room' for anybody here; else the requester."] = "",
) -> str:
    """Ask a person and wait for the answer."""
    raise ToolFailed("A person answers this, so it cannot be called.")


def asked(arguments: Mapping[str, Json]) -> Asking:
    """The question that a call asks. Errors: ToolRetry."""
    ask_person.check(arguments)
    question = _in_one_line(arguments["question"])
    options = [" ".join(one.split()) for one in arguments.get("options") or ()]
    if not 0 < len(question) <= QUESTION_MAX_CHARS:
        raise ToolRetry(f"Give a question of at most {QUESTION_MAX_CHARS:,} characters. Nobody was asked.")
    if (options and not FEWEST <= len(options) <= MOST) or len(set(options)) < len(options):
        raise ToolRetry(f"Give {FEWEST} to {MOST} different options, or none. Nobody was asked.")
    if not all(0 < len(one) <= OPTION_MAX_CHARS for one in options):
        raise ToolRetry(f"Give options of at most {OPTION_MAX_CHARS} characters each. Nobody was asked.")
    return Asking(question, tuple(options), arguments.get("to", "").strip())


def _in_one_line(question: str) -> str:
    """The question in one line, so that none of it is taken for something else on a card, and each point behind it in one."""
    told = ""
    for line in filter(None, (" ".join(line.split()) for line in question.splitlines())):
        told += line if not told else f"\n{line}" if line.startswith(POINT) else f" {line}"
    return told


ASK_PERSON: Final = replace(ask_person, spec=replace(ask_person.spec, asks=asked))
