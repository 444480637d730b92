"""Limits of values that programs keep, and their words. No I/O."""

from __future__ import annotations

import json
from typing import Final

VALUE_MAX_BYTES: Final = 64 * 1024
KEYS_MAX: Final = 1_000
"""Keys of one agent in one scope."""
KEY_MAX_CHARS: Final = 200
KEYS_FULL: Final = f"{KEYS_MAX:,} keys are kept here, which is the limit. Delete some first."


def fault_of_value(key: str, value: str) -> str:
    """Reason for which a value is not kept; empty where there's none."""
    if fault := _fault_of_key(key):
        return fault
    size = len(value.encode("utf-8", "surrogatepass"))
    if size > VALUE_MAX_BYTES:
        return (
            f"A value has at most {VALUE_MAX_BYTES // 1024} KiB, and this one has {size:,} bytes. Write a file instead."
        )
    try:
        json.loads(value)
    except (ValueError, RecursionError) as error:
        return f"A value is written as JSON, and this one can't be read as such: {error}."
    return ""


def _fault_of_key(key: str) -> str:
    plain = key.strip()
    if not plain:
        return "The key is empty. Name one, such as deploy/last."
    if len(key) > KEY_MAX_CHARS:
        return f"A key has at most {KEY_MAX_CHARS} characters, and this one has {len(key):,}. Shorten it."
    if plain != key:
        return f"The key {key!r} has a blank at its beginning or end. Write {plain!r}."
    return "" if key.isprintable() else f"The key {key!r} has signs that can't be read. Use letters and digits."


def changed_meanwhile(key: str, expected: int, version: int) -> str:
    if not version:
        return f"There is no value under {key!r}, and you expected its version {expected}. Read it again."
    return f"The value under {key!r} has version {version} by now, and you expected {expected}. Read it again."
