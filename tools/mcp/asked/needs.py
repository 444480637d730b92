"""Needs of a call: what its server asks before it goes on, and how the call goes on afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from runtime.contract import Json

ELICITATION: Final = "elicitation/create"
ROOTS: Final = "roots/list"
SAMPLING: Final = "sampling/createMessage"
NO_ROOTS: Final[Mapping[str, Json]] = {"roots": []}


class GoesOn(StrEnum):
    """Ways in which a call goes on once it has what it needs."""

    AGAIN_WITH = "again with"  # made again, with the answers and the server's own state: since 2026-07-28
    HELD = "held"  # the server holds it open at the other end of the connection: before
    AGAIN = "again"  # made again as it was, after a page on the web: before


@dataclass(frozen=True, slots=True)
class Needs:
    """`requests` as they came, by the server's own keys. `state` goes back as it is; `held` is the number of an open call."""

    goes_on: GoesOn
    requests: Mapping[str, Json] = field(default_factory=dict)
    state: str | None = None
    held: int = 0

    @property
    def refused(self) -> str:
        """The kind of a request that nobody here answers; empty where there is none."""
        kinds = {str(method_of(request)) for request in self.requests.values()} - {ELICITATION, ROOTS}
        if SAMPLING in kinds:
            return "an answer of a language model"
        return ", ".join(sorted(kinds))

    @property
    def questions(self) -> dict[str, Mapping[str, Json]]:
        """Parameters of the requests that a person answers."""
        return {key: params_of(request) for key, request in self.requests.items() if method_of(request) == ELICITATION}

    def with_ours(self, answers: Mapping[str, Json]) -> dict[str, Json]:
        """`answers` with ours for what no person is asked: we show no folders."""
        ours = {key: dict(NO_ROOTS) for key, request in self.requests.items() if method_of(request) == ROOTS}
        return {**ours, **answers}


def method_of(request: Json) -> Json:
    return request.get("method") if isinstance(request, dict) else None


def params_of(request: Json) -> Mapping[str, Json]:
    params = request.get("params") if isinstance(request, dict) else None
    return params if isinstance(params, dict) else {}
