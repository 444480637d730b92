"""Arguments of a call against the JSON schema that its tool declares."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import structlog

from runtime.contract import Json

log = structlog.get_logger("approvals")

FAULT_MAX_CHARS: Final = 150
PATTERNS: Final = frozenset({"pattern", "patternProperties"})
"""Expressions of others, which may take for ever to match. Their tool checks them."""
BESIDE_PATTERNS: Final = frozenset({"additionalProperties", "unevaluatedProperties"})
"""What they allow cannot be told where names are matched by patterns."""
CHECKS_MAX: Final = 50_000
"""Keywords that one look at arguments goes by. References in a schema may double with each level: 30 of them would hold up
the process for hours."""
CHECKED_MAX_CHARS: Final = 200_000_000
"""Characters that all of them look at together: each fault repeats the value that it is about."""
UNIQUE_COSTS: Final = 100
"""Checks that a look for equal items counts as: it writes each of them down."""
PAIRS_A_CHECK: Final = 100
"""Pairs of names that are compared in the time of a check."""
PAIRING: Final = frozenset({"unevaluatedProperties", "unevaluatedItems"})
"""Keywords that compare each item with each."""


class _TooManyChecks(ValueError):
    """A schema that would take for ever."""


def schema_faults(schema: Mapping[str, Json], arguments: Mapping[str, Json]) -> str:
    """The first fault of `arguments` in a sentence; empty if there is none or the schema cannot be read."""
    from jsonschema import Draft202012Validator  # here: 6 MB, and most processes never need it
    from jsonschema.exceptions import best_match
    from jsonschema.validators import extend
    from referencing import Registry
    from referencing.exceptions import Unresolvable

    try:
        size = max(1, len(json.dumps(dict(arguments))))
        keywords = {**Draft202012Validator.VALIDATORS, "uniqueItems": _unique}
        bounded: Any = extend(Draft202012Validator, _counted(keywords, min(CHECKS_MAX, CHECKED_MAX_CHARS // size)))
        checks = bounded(_plain(dict(schema)), registry=Registry())  # nothing is fetched
        error = best_match(checks.iter_errors(dict(arguments)))
    except (Unresolvable, TypeError, ValueError, ArithmeticError, RecursionError, AttributeError) as trouble:
        log.info("a schema cannot be read, so the tool alone checks its arguments", reason=str(trouble))
        return ""
    if error is None:
        return ""
    where = ".".join(str(step) for step in error.absolute_path)
    words = " ".join(str(error.message).split())
    short = words if len(words) <= FAULT_MAX_CHARS else f"{words[:FAULT_MAX_CHARS]}…"
    return f"{where}: {short}." if where else f"{short}."


def _counted(keywords: Mapping[str, Callable[..., Any]], most: int) -> dict[str, Callable[..., Any]]:
    """The keywords' functions, which refuse once they took too much in all."""
    left = most

    def counted(name: str, check: Callable[..., Any]) -> Callable[..., Any]:
        def one(validator: Any, wanted: Any, instance: Any, schema: Any) -> Any:
            nonlocal left
            left -= _cost(name, instance)
            if left < 0:
                raise _TooManyChecks(f"it takes more than {most:,} checks")
            return check(validator, wanted, instance, schema)

        return one

    return {name: counted(name, check) for name, check in keywords.items()}


def _cost(name: str, instance: Any) -> int:
    if name == "uniqueItems":
        return UNIQUE_COSTS
    return 1 + (len(instance) ** 2 // PAIRS_A_CHECK if name in PAIRING and isinstance(instance, list | dict) else 0)


def _unique(validator: Any, wanted: Any, instance: Any, _schema: Any) -> Iterator[Exception]:
    """The library's own compares each item with each where they can't be sorted: 50,000 would take minutes."""
    from jsonschema.exceptions import ValidationError

    if wanted and validator.is_type(instance, "array"):
        written = {json.dumps(_whole(one), sort_keys=True) for one in instance}
        if len(written) < len(instance):
            yield ValidationError(f"{instance!r} has non-unique elements")


def _whole(value: Any) -> Any:
    """A value in which numbers that are equal are written alike."""
    match value:
        case float() if value.is_integer():
            return int(value)
        case list():
            return [_whole(one) for one in value]
        case dict():
            return {name: _whole(one) for name, one in value.items()}
        case _:
            return value


def _plain(schema: Any) -> Any:
    """Schema without patterns, at any depth."""
    if isinstance(schema, Mapping):
        return dict(_kept(schema))
    return [_plain(one) for one in schema] if isinstance(schema, list | tuple) else schema


def _kept(schema: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    dropped = PATTERNS | BESIDE_PATTERNS if "patternProperties" in schema else PATTERNS
    for name, value in schema.items():
        if name == "properties" and isinstance(value, Mapping):  # names of arguments, which may be words of ours
            yield name, {each: _plain(one) for each, one in value.items()}
        elif name not in dropped:
            yield name, _plain(value)
