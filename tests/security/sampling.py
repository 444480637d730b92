"""The part of a suite that runs each time; all of it runs by name."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Final, TypeVar

T = TypeVar("T")

SEED: Final = 17
TENTH: Final = 10


def tenth(listed: Sequence[T]) -> list[T]:
    """One in ten, the same ones each time."""
    return random.Random(SEED).sample(listed, -(-len(listed) // TENTH))
