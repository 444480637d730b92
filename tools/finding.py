"""The tool that finds tools: a request carries those that are often needed, and names the others."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Final

from runtime.contract import Effect, Flow, Reads, ToolContext, ToolSpec, found_line
from tools.kit.declare import tool

FOUND_MAX: Final = 8
NAMES_MAX: Final = 100
WORD: Final = re.compile(r"[^\W_]+")


@tool(effect=Effect.READ, output_bound=8_000, flow=Flow(Reads.OURS, carries={}))
def find_tools(words: Annotated[str, "Names of tools, or what is to be done."], context: ToolContext) -> str:
    """Find tools; those found can be called from then on."""
    known = context.tools()
    found = best(words, known)
    if found:
        return "\n".join(["You can call these now:", *(found_line(spec, arguments_of(spec)) for spec in found)])
    names = ", ".join(spec.name for spec in known[:NAMES_MAX])
    return f"No tool fits these words. There are: {names}." if names else "There are no tools here."


def best(words: str, known: Sequence[ToolSpec]) -> list[ToolSpec]:
    """The tools that fit `words` best, at most `FOUND_MAX`: by their names first, then by what they say of themselves."""
    wanted = _stems(words)
    scored = [(_score(words, wanted, spec), -place, spec) for place, spec in enumerate(known)]
    return [spec for score, _, spec in sorted(scored, key=lambda one: one[:2], reverse=True) if score][:FOUND_MAX]


def _score(words: str, wanted: frozenset[str], spec: ToolSpec) -> int:
    if re.search(rf"(?<!\w){re.escape(spec.name)}(?!\w)", words):
        return 100
    return 3 * len(wanted & _stems(spec.name)) + len(wanted & _stems(spec.description))


def _stems(text: str) -> frozenset[str]:
    """Words of three letters and more, without what English puts at their end."""
    found = (word.casefold() for word in WORD.findall(text.replace("_", " ")))
    return frozenset(re.sub(r"(?:ing|ed|es|s|e)$", "", word) or word for word in found if len(word) > 2)


def arguments_of(spec: ToolSpec) -> str:
    """Names of its arguments, those that are demanded first."""
    required = list(spec.schema.get("required", ()))
    others = [name for name in spec.schema.get("properties", {}) if name not in required]
    told = [*required, *(f"{name}?" for name in others)]
    return f" ({', '.join(told)})" if told else ""
