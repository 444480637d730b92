"""The part of a suite that runs each time; all of it runs by name."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Final, TypeVar

T = TypeVar("T")

SEED: Final = 17


def tenth(listed: Sequence[T]) -> list[T]:
    return one_in(10, listed)


def one_in(share: int, listed: Sequence[T]) -> list[T]:
    """One in `share`, the same ones each time."""
    return random.Random(SEED).sample(listed, -(-len(listed) // share))
