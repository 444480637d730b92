"""Each partition's share of the window. Only the history is cut to its own; of the others people are told. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

SHARES: Final[Mapping[str, float]] = MappingProxyType(
    {"system": 0.20, "skills": 0.10, "memory": 0.10, "working": 0.05, "tools": 0.20}
)
"""The most that each should take of the window. The history has all that the others leave: at least 35 %."""


def beyond(sizes: Mapping[str, int], window: int) -> dict[str, float]:
    """The partitions that take more than their share, with that share. Sizes and window are tokens of one kind."""
    return {name: share for name, share in SHARES.items() if sizes.get(name, 0) > share * window}
