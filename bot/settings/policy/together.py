"""Faults of rules that only show when their settings are looked at together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeGuard

from bot.settings.policy.rules import Where
from bot.settings.sources import Layers

CONDITIONS: Final = tuple(info.alias or name for name, info in Where.model_fields.items())
DENYING: Final = ("deny", "veto")


def faults_together(layers: Layers) -> Iterator[tuple[str, str]]:
    """Conditions that are empty or hold for no number, and limits of rules that let nothing through."""
    for place, rule in layers.tables("policy"):
        where = rule.get("where")
        for argument, table in where.items() if isinstance(where, dict) else ():
            if isinstance(table, dict):
                yield from _conditions(f"{place}.where.{argument}", table)
        if rule.get("limit") and (result := rule.get("result")) in DENYING:
            yield (
                f"{place}.limit",
                f'means nothing on a rule whose result is "{result}"; remove it, or let the rule allow or ask',
            )


def _conditions(place: str, table: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if not table:
        yield place, f"has no condition; add one of {', '.join(CONDITIONS)}"
    least, most = table.get("min"), table.get("max")
    if _is_number(least) and _is_number(most) and least > most:
        yield f"{place}.min", f"{least:g} is above max, which is {most:g}, so no number fits; lower it or raise max"


def _is_number(value: Any) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)
