"""Declarations of a tool, on their way out of the child that serves it. Pure.

The file is its owner's, so what it says of itself counts: of a foreign MCP server nothing of this is believed.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

from runtime.contract import Carries, Effect, Flow, Reads, ToolSpec
from tools.mcp.offers import MARGIN, Offer
from tools.mcp.terms import ServerTerms

SERVED_MARGIN: Final = 2 * MARGIN
"""Past the time of a tool: first its host answers that it is over, then whoever called it gives up, and then the run does."""
TIMEOUT_MAX: Final = timedelta(hours=1)
OUTPUT_MAX_CHARS: Final = 200_000


def told(spec: ToolSpec) -> dict[str, Any]:
    """All that a spec says beside its name, its words and its schema."""
    flow = spec.flow
    return {
        "effect": spec.effect.value,
        "idempotent": spec.idempotent,
        "seconds": spec.timeout.total_seconds(),
        "output_bound": spec.output_bound,
        "polls": spec.polls,
        "seldom": spec.seldom,
        "flow": {
            "reads": flow.reads.value,
            "source": flow.source,
            "stays": flow.stays,
            "carries": None if flow.carries is None else {name: kind.value for name, kind in flow.carries.items()},
        },
    }


def spec_of(offer: Offer, terms: ServerTerms) -> ToolSpec:
    """The tool as its file declares it. Without a declaration it's taken for the worst."""
    said = offer.declared
    return ToolSpec(
        name=offer.name,
        description=offer.description,
        schema=offer.schema,
        effect=Effect(said.get("effect", Effect.DANGER)),
        idempotent=bool(said.get("idempotent")),
        timeout=min(timedelta(seconds=float(said.get("seconds", 60))), TIMEOUT_MAX) + SERVED_MARGIN,
        output_bound=min(int(said.get("output_bound", 50_000)), OUTPUT_MAX_CHARS),
        polls=bool(said.get("polls")),
        seldom=bool(said.get("seldom")),
        flow=_flow(said.get("flow") or {}),
    )


def _flow(said: Mapping[str, Any]) -> Flow:
    carries = said.get("carries")
    return Flow(
        Reads(said.get("reads", Reads.OUTSIDE)),
        said.get("source", ""),
        bool(said.get("stays")),
        carries=None if carries is None else {name: Carries(kind) for name, kind in carries.items()},
    )
