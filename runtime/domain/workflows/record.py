"""A workflow as the calls of its run tell it: what was frozen, and what came of each."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from runtime.contract import Call, CallKey, Json, RunId, SessionKey
from runtime.domain.transcript import (
    ERROR,
    NOT_FINISHED,
    STILL_AT_WORK,
    WAITING_FOR_ANSWER,
    WAITING_FOR_APPROVAL,
)
from runtime.domain.workflows.calls import BEGIN, BEGIN_ID, result_of
from runtime.domain.workflows.definition import Workflow
from runtime.domain.workflows.progress import Result, Standing, standing
from runtime.errors import UNSURE
from runtime.text.outside import sources_in, unfenced

DEFINITION: Final = "definition"
INPUTS: Final = "inputs"
DONE_BEFORE: Final = "done"
"""Parts of what is frozen; the last are results of an earlier run, by call, with which this one goes on."""
SOURCES: Final = "sources"
"""Sources of those results that are from outside: what goes on with them read them too."""
CUT_CALLS: Final = "cut"
"""Calls of an earlier run that nobody knows the outcome of: the names of each, by the call that is made again for it."""
AGAIN: Final = re.compile(r"-again-\d+$")
"""Ends the id of a call that tries once more what another one did not do."""
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
    cut: Mapping[str, Json]


def freezing(flow: Workflow, inputs: Mapping[str, Json], done: Json, sources: Json, cut: Json = None) -> Call:
    """The call by which a run begins with a workflow."""
    frozen = {
        DEFINITION: flow.to_json(),
        "sha256": flow.sha256,
        INPUTS: dict(inputs),
        DONE_BEFORE: done,
        SOURCES: sources,
        **({CUT_CALLS: cut} if cut else {}),
    }
    return Call(BEGIN_ID, BEGIN, json.dumps(frozen, ensure_ascii=False))


def frozen_in(calls: Iterable[Recorded]) -> Frozen | None:
    """The workflow that a run froze as it began; None where it has not yet."""
    for call, _ in calls:
        if call.tool == BEGIN:
            raw = json.loads(call.arguments)
            done = {key: Result(text) for key, text in raw[DONE_BEFORE].items()}
            return Frozen(Workflow.from_json(raw[DEFINITION]), raw[INPUTS], done, raw.get(CUT_CALLS, {}))
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


def cut_in(calls: Iterable[Recorded], before: Mapping[str, Json], run: RunId, session: SessionKey) -> dict[str, Json]:
    """Calls of a run whose outcome nobody knows, by the call that another run makes for each of them.

    Where such a call was made for one of a run `before`, it goes by the names of that one.
    """
    last = {AGAIN.sub("", call.id): (call, result) for call, result in calls if call.id.startswith("step-")}
    return {
        name: before.get(call.id, [run, session, call.id]) for name, (call, result) in last.items() if is_cut(result)
    }


def is_cut(result: str | None) -> bool:
    """True for the result of a call that may have taken effect, or of one that was not made yet."""
    if result is None or is_pending(result):
        return True
    return unfenced(result).startswith((NOT_FINISHED, f"{ERROR}{UNSURE}"))


def key_in(names: Json) -> CallKey | None:
    """The names of a call as they are kept; None for what is none."""
    match names:
        case [str(run), str(session), str(call)]:
            return CallKey(RunId(run), SessionKey(session), call)
        case _:
            return None


def to_resume(calls: Sequence[Recorded], run: RunId, session: SessionKey) -> dict[str, Json] | None:
    """Facts with which another run goes on where `run` stopped; None for a run of no workflow."""
    frozen = frozen_in(calls)
    if frozen is None:
        return None
    results = {**frozen.done, **results_in(calls)}
    good: dict[str, Json] = {key: one.text for key, one in results.items() if not one.failed and key != BEGIN_ID}
    sources: list[Json] = list(dict.fromkeys(name for _, told in calls if told for name in sources_in(told)))
    kept: dict[str, Json] = {DEFINITION: frozen.flow.to_json(), DONE_BEFORE: good, SOURCES: sources}
    cut = cut_in(calls, frozen.cut, run, session)
    return kept | ({CUT_CALLS: cut} if cut else {})
