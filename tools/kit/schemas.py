"""Arguments of a call against the JSON schema that its tool declares."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import count
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


class _TooManyChecks(ValueError):
    """A schema that would take for ever."""


def schema_faults(schema: Mapping[str, Json], arguments: Mapping[str, Json]) -> str:
    """The first fault of `arguments` in a sentence; empty if there is none or the schema cannot be read."""
    from jsonschema import Draft202012Validator  # here: 6 MB, and most processes never need it
    from jsonschema.exceptions import best_match
    from jsonschema.validators import extend
    from referencing import Registry
    from referencing.exceptions import Unresolvable

    bounded: Any = extend(Draft202012Validator, _counted(dict(Draft202012Validator.VALIDATORS)))
    try:
        checks = bounded(_plain(dict(schema)), registry=Registry())  # nothing is fetched
        error = best_match(checks.iter_errors(dict(arguments)))
    except (Unresolvable, TypeError, ValueError, RecursionError, AttributeError) as trouble:
        log.info("a schema cannot be read, so the tool alone checks its arguments", reason=str(trouble))
        return ""
    if error is None:
        return ""
    where = ".".join(str(step) for step in error.absolute_path)
    words = " ".join(str(error.message).split())
    short = words if len(words) <= FAULT_MAX_CHARS else f"{words[:FAULT_MAX_CHARS]}…"
    return f"{where}: {short}." if where else f"{short}."


def _counted(keywords: Mapping[str, Callable[..., Any]]) -> dict[str, Callable[..., Any]]:
    """The keywords' functions, which refuse once they were called too often in all."""
    left = count(CHECKS_MAX, -1)

    def counted(check: Callable[..., Any]) -> Callable[..., Any]:
        def one(*given: Any) -> Any:
            if next(left) <= 0:
                raise _TooManyChecks(f"it takes more than {CHECKS_MAX:,} checks")
            return check(*given)

        return one

    return {name: counted(check) for name, check in keywords.items()}


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
