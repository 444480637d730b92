"""Forms of tools whose words are not ours: what is offered now, beside what was accepted. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from runtime.text.glyphs import shortened

ARGUMENTS_NAMED: Final = 5
"""Arguments that a card names of those that changed."""
ARGUMENT_NAME_MAX_CHARS: Final = 60
"""Characters of such a name."""
HINTS: Final = ("read_only", "idempotent", "hints", "needs_task")


def changes(before: str, now: str) -> str:
    """Differences between two forms of a tool, in short words for people; empty where nothing does."""
    if before == now:
        return ""
    old, new = json.loads(before), json.loads(now)
    found = []
    if old.get("description") != new.get("description"):
        found.append("its description")
    if old.get("schema") != new.get("schema"):
        found.append(_arguments(_properties(old), _properties(new)))
    if any(old.get(name) != new.get(name) for name in HINTS):
        found.append("its hints about what it may do")
    return "; ".join(found) or "its definition"


def warning(before: str, now: str) -> str:
    """A warning for an approval card about the changes of a tool's form."""
    return f"This tool has changed since it was accepted: {changes(before, now)}. Approving accepts it as it is now."


def _properties(form: Mapping[str, Any]) -> Mapping[str, Any]:
    found = form["schema"].get("properties") if isinstance(form.get("schema"), dict) else None
    return found if isinstance(found, dict) else {}


def _arguments(old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    both = sorted(name for name in old.keys() & new.keys() if old[name] != new[name])
    parts = {"new": sorted(new.keys() - old.keys()), "gone": sorted(old.keys() - new.keys()), "changed": both}
    told = [f"{what}: {', '.join(map(_code, names[:ARGUMENTS_NAMED]))}" for what, names in parts.items() if names]
    return f"its arguments ({'; '.join(told)})" if told else "its arguments"


def _code(name: str) -> str:
    """A name as the server gives it, which no mark-up in it can leave."""
    return f"`{shortened(name, ARGUMENT_NAME_MAX_CHARS).replace('`', chr(39))}`"
