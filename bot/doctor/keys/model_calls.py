"""Models by what came of their last call: who looks at keys alone sees no key that a provider refuses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from bot.doctor.rows import rows_of
from bot.doctor.subject import Subject, fault, warning
from bot.node.lock import Control
from bot.operator.client import connected
from bot.wiring.models.catalogue import catalogue_of
from runtime.contract import Finding
from runtime.errors import BotError, Cause
from runtime.models.choice.cooling import LOUD, Standing

FAILED_CALLS: Final = "SELECT model, cause, reason, mark FROM cooldowns ORDER BY model"
WHY_USUAL: Final = "Messages are answered with this failure, unless another model stands in."
WHY_OTHER: Final = "It can't answer, or stand in for another model."


@dataclass(frozen=True, slots=True)
class FailedCall:
    """A model whose last call failed, so that it rests or is asked again. `is_usual`: messages go to it first."""

    model: str
    cause: str
    reason: str
    is_usual: bool


async def check_model_calls(subject: Subject) -> Sequence[Finding]:
    return list(findings(await _asked(subject.control) if subject.control else await _kept(subject)))


def findings(calls: Sequence[FailedCall]) -> Iterator[Finding]:
    """About each of them; of an answer nothing is told."""
    for one in calls:
        is_ours = one.cause in LOUD
        what = f"the last call of {one.model} failed: {one.reason}"
        why = WHY_USUAL if one.is_usual else WHY_OTHER
        fix = (
            "put its key or its bill right, then try it: signalbox doctor --model"
            if is_ours
            else "wait, or try it: signalbox doctor --model"
        )
        tell = fault if is_ours and one.is_usual else warning
        yield tell(f"model.calls.{one.model}", what, why, fix)


async def _asked(control: Control) -> Sequence[FailedCall]:
    """The running process knows whether settings and keys have changed since."""
    try:
        async with connected(control) as client:
            rows = await client.models()
    except BotError:  # told by the check of the process
        return []
    return [_of_view(row) for row in rows if row["cooldown"] and row["state"] != Standing.WELL.value]


def _of_view(row: Mapping[str, Any]) -> FailedCall:
    rest = row["cooldown"]
    return FailedCall(row["name"], rest["cause"], rest["reason"], bool(row["usual"]))


async def _kept(subject: Subject) -> Sequence[FailedCall]:
    """From the database, by the settings and keys that are given now: what another key met says nothing."""
    (rows,) = await rows_of(subject.settings, FAILED_CALLS)
    known = {one.name: one for one in catalogue_of(subject.settings)} if rows else {}
    return [
        FailedCall(model, Cause(cause).value, reason, known[model].is_usual)
        for model, cause, reason, mark in rows
        if model in known and known[model].mark == mark
    ]
