"""A workflow as the calls of its run tell it: what was frozen, and what came of each."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from runtime.contract import Call, Json
from runtime.domain.transcript import STILL_AT_WORK, WAITING_FOR_ANSWER, WAITING_FOR_APPROVAL
from runtime.domain.workflows.calls import BEGIN, BEGIN_ID, result_of
from runtime.domain.workflows.definition import Workflow
from runtime.domain.workflows.progress import Result, Standing, standing
from runtime.text.outside import sources_in

DEFINITION: Final = "definition"
INPUTS: Final = "inputs"
DONE_BEFORE: Final = "done"
"""Parts of what is frozen; the last are results of an earlier run, by call, with which this one goes on."""
SOURCES: Final = "sources"
"""Sources of those results that are from outside: what goes on with them read them too."""
GOES_ON: Final = "_goes_on"
"""Ends the name of a call that goes on with another one, once a person answered what its MCP server asked in the middle of it."""
Recorded = tuple[Call, str | None]
"""A call of a run, and its result; None while there is none."""


@dataclass(frozen=True, slots=True)
class Frozen:
    """A workflow as its run goes by it."""

    flow: Workflow
    inputs: Mapping[str, Json]
    done: Mapping[str, Result]


def freezing(flow: Workflow, inputs: Mapping[str, Json], done: Json, sources: Json) -> Call:
    """The call by which a run begins with a workflow."""
    frozen = {
        DEFINITION: flow.to_json(),
        "sha256": flow.sha256,
        INPUTS: dict(inputs),
        DONE_BEFORE: done,
        SOURCES: sources,
    }
    return Call(BEGIN_ID, BEGIN, json.dumps(frozen, ensure_ascii=False))


def frozen_in(calls: Iterable[Recorded]) -> Frozen | None:
    """The workflow that a run froze as it began; None where it has not yet."""
    for call, _ in calls:
        if call.tool == BEGIN:
            raw = json.loads(call.arguments)
            done = {key: Result(text) for key, text in raw[DONE_BEFORE].items()}
            return Frozen(Workflow.from_json(raw[DEFINITION]), raw[INPUTS], done)
    return None


def standing_in(calls: Sequence[Recorded]) -> Standing | None:
    """The workflow of a run as it stands; None where it has not begun."""
    frozen = frozen_in(calls)
    if frozen is None:
        return None
    pending = frozenset(_meant(call) for call, result in calls if result is None or is_pending(result))
    return standing(frozen.flow, frozen.inputs, {**frozen.done, **results_in(calls)}, pending)


def is_pending(result: str) -> bool:
    """True for the text that stands in place of a result while others work on a call, or are asked about it."""
    return result.startswith(STILL_AT_WORK) or result in (WAITING_FOR_APPROVAL, WAITING_FOR_ANSWER)


def results_in(calls: Iterable[Recorded]) -> dict[str, Result]:
    """Results of the calls that are over, by the ids of the calls. What goes on with another call brings the result of that."""
    return {
        _meant(call): result_of(call, result) for call, result in calls if result is not None and not is_pending(result)
    }


def _meant(call: Call) -> str:
    """Id of the call whose result one brings: as a rule its own. One that goes on names the run and the call."""
    if not call.tool.endswith(GOES_ON):
        return call.id
    named = json.loads(call.arguments).get("call")
    return named.partition("-")[2] if isinstance(named, str) else call.id


def to_resume(calls: Sequence[Recorded]) -> dict[str, Json] | None:
    """Facts with which another run goes on where one stopped; None for a run of no workflow."""
    frozen = frozen_in(calls)
    if frozen is None:
        return None
    results = {**frozen.done, **results_in(calls)}
    good: dict[str, Json] = {key: one.text for key, one in results.items() if not one.failed and key != BEGIN_ID}
    sources: list[Json] = list(dict.fromkeys(name for _, told in calls if told for name in sources_in(told)))
    return {DEFINITION: frozen.flow.to_json(), DONE_BEFORE: good, SOURCES: sources}
