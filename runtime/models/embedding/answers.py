"""Answers of models of embeddings: numbers in the order of the texts, each vector of length 1, and none of no use."""

from __future__ import annotations

import math
import struct
from base64 import b64decode
from collections.abc import Sequence
from typing import Any, Final

from runtime.errors import Cause, ModelFailed

NO_USE: Final = "The model of embeddings gave numbers of no use: {fault}."


def vectors_of(rows: Sequence[Any], count: int) -> list[list[float]]:
    """Vectors of an answer in the order of what was asked, each of length 1. Errors: ModelFailed says what is wrong."""
    try:
        vectors = [_numbers(row["embedding"]) for row in sorted(rows, key=lambda row: int(row.get("index") or 0))]
    except (TypeError, ValueError, KeyError, AttributeError, OverflowError, struct.error):
        raise _no_use("something that is no list of vectors") from None
    if len(vectors) != count:
        raise _no_use(f"{len(vectors)} vectors for {count} texts")
    if len({len(vector) for vector in vectors}) != 1 or not vectors[0]:
        raise _no_use("vectors of several lengths" if vectors[0] else "empty vectors")
    return [_of_length_1(vector) for vector in vectors]


def _numbers(written: Any) -> list[float]:
    """Numbers as a vendor sends them: one after the other, or as base64 of float32."""
    if isinstance(written, str):
        raw = b64decode(written)
        return list(struct.unpack(f"<{len(raw) // 4}f", raw))
    try:
        return [float(number) for number in written]
    except (TypeError, ValueError):
        raise _no_use("something that is no number") from None


def _of_length_1(vector: Sequence[float]) -> list[float]:
    length = math.sqrt(sum(number * number for number in vector))
    if not math.isfinite(length):
        raise _no_use("NaN or infinity")
    if not length:
        raise _no_use("a vector without a direction")
    return [number / length for number in vector]


def _no_use(fault: str) -> ModelFailed:
    return ModelFailed(NO_USE.format(fault=fault), cause=Cause.ANSWER)
