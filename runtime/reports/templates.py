"""Reports without a model: a template stands in the model's place.

    first reply: the data calls -> (charts, where there are any: their calls) -> last reply: the rendered text

So steps, policy, approvals, kills and repeats are those of any run. Nothing is remembered in between: what was called
already stands in the turns.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Final

from runtime.contract import (
    AssistantTurn,
    Call,
    CallKey,
    DataCall,
    Job,
    ModelReply,
    ModelRequest,
    Now,
    OnText,
    ToolTurn,
    Turn,
    Usage,
)
from runtime.domain.change_digest import FAILED_DIGEST, call_id, digest, has_failed
from runtime.domain.schedules import NO_MODEL, NO_NEWS
from runtime.errors import ModelFailed
from runtime.templating.order import Order, Piece
from runtime.templating.renderer import Renderer
from runtime.templating.sheet import Sheet, TemplateError
from runtime.text.outside import unfenced

CHART: Final = "chart"
CHARTS: Final = "chart-"
"""How the id of a call begins that draws."""
USAGE: Final = Usage(NO_MODEL)
NO_DIGESTS: Final[Mapping[str, str]] = {}
NOTHING_TO_TELL: Final = "Nothing to report."
"""In place of a blank text, where silence is not what the schedule wants."""


class TemplateModel:
    """Implements `contract.Model` for one job."""

    name = NO_MODEL
    goes_on = False

    def __init__(self, job: Job, sheet: Sheet, *, renderer: Renderer, now: Now) -> None:
        self._job = job
        self._sheet = sheet
        self._renderer = renderer
        self._now = now

    def recall(self, turns: Sequence[Turn]) -> None:
        """No call is judged by what was called before."""

    def is_fixed(self, call: str) -> bool:
        """All its calls stand in the template."""
        return True

    def limit(self, call: str) -> timedelta | None:
        """Each call has its tool's own time."""
        return None

    def repeated(self, call: str) -> CallKey | None:
        """Each call is one of its own."""
        return None

    async def reply(self, request: ModelRequest, on_text: OnText) -> ModelReply:
        results = {turn.call_id: unfenced(turn.text) for turn in request.turns if isinstance(turn, ToolTurn)}
        missing = [call for call in self._sheet.calls() if call_id(call.name) not in results]
        if missing:
            return ModelReply("", tuple(map(written, missing)), USAGE)
        try:
            if not was_drawn(request.turns) and (charts := await self._charts(results)):
                return ModelReply("", charts, USAGE)
            return ModelReply(await self._text(results), (), USAGE)
        except TemplateError as error:
            raise ModelFailed(capital(str(error))) from error

    async def _charts(self, results: Mapping[str, str]) -> tuple[Call, ...]:
        if not self._sheet.charts:
            return ()
        expressions = {chart.name: chart.arguments for chart in self._sheet.charts}
        values = await self._renderer.values(self._sheet, replace(self._order(results), expressions=expressions))
        return tuple(Call(f"{CHARTS}{name}", CHART, json.dumps(value)) for name, value in values.items() if value)

    async def _text(self, results: Mapping[str, str]) -> str:
        text = await self._renderer.text(self._sheet, self._order(results))
        if text.strip():
            return text.strip()
        return NO_NEWS if self._job.terms.quiet else NOTHING_TO_TELL

    def _order(self, results: Mapping[str, str]) -> Order:
        job, sheet = self._job, self._sheet
        return Order(
            sheet.body,
            sheet.above,
            data={call.name: piece_of(call, results[call_id(call.name)], job.seen) for call in sheet.data},
            charts={
                call.removeprefix(CHARTS): Piece(CHART, text, has_failed(text))
                for call, text in results.items()
                if call.startswith(CHARTS)
            },
            options=sheet.options,
            name=job.name,
            now=self._now().isoformat(),
            planned_at=job.planned_at.isoformat(),
            previous=job.previous,
            previous_at=job.previous_at.isoformat() if job.previous_at else "",
            zone=job.zone,
            quiet=job.terms.quiet,
        )


class Unmade:
    """In place of a template that cannot be read: each report fails with the reason."""

    name = NO_MODEL
    goes_on = False

    def __init__(self, reason: str) -> None:
        self._reason = reason

    def recall(self, turns: Sequence[Turn]) -> None:
        """No call is judged by what was called before."""

    def is_fixed(self, call: str) -> bool:
        """It makes none."""
        return True

    def limit(self, call: str) -> timedelta | None:
        """Each call has its tool's own time."""
        return None

    def repeated(self, call: str) -> CallKey | None:
        """Each call is one of its own."""
        return None

    async def reply(self, request: ModelRequest, on_text: OnText) -> ModelReply:
        raise ModelFailed(capital(self._reason))


def piece_of(call: DataCall, result: str, seen: Mapping[str, str] = NO_DIGESTS) -> Piece:
    """Piece of what a data call gave, compared with the digests of the occurrence before."""
    before = seen.get(call.name)
    return Piece(call.tool, result, has_failed(result), before != digest(result), before == FAILED_DIGEST)


def written(call: DataCall) -> Call:
    return Call(call_id(call.name), call.tool, json.dumps(dict(call.arguments), ensure_ascii=False))


def was_drawn(turns: Sequence[Turn]) -> bool:
    """True if the calls for charts were made; a repeat after a kill must not make others."""
    asked = [turn for turn in turns if isinstance(turn, AssistantTurn)]
    return any(call.id.startswith(CHARTS) for turn in asked for call in turn.calls)


def capital(text: str) -> str:
    """A sentence of a report's failure begins with a capital letter."""
    return text[:1].upper() + text[1:]
