"""Offers of a server's tools, and the part that we take. Pure, but for the memory of it."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import timedelta
from typing import Any, Final

from runtime.contract import CardNote, Effect, Flow, Json, ToolSpec
from runtime.text.glyphs import clip
from runtime.text.outside import stripped
from tools.kit.placeholders import names_in
from tools.mcp.asked.held import OWN
from tools.mcp.terms import Endpoint, ServerTerms

MOST_TOOLS: Final = 128  # what large vendors take in one request: OpenAI's API reference, `tools`, read 2026-11
LONGEST_NAME: Final = 64  # characters, as those vendors take them
LONGEST_DESCRIPTION: Final = 2_000  # characters: every tool's goes into every model call
LONGEST_SCHEMA: Final = 20_000  # characters of JSON
WORDS: Final = ("description", "title", "$comment")
"""Fields of a schema for whoever reads it."""
DECLARED: Final = "signalbox/declared"
"""Key of `_meta` under which a file of tools declares them."""
LATER: Final = ("hints", "needs_task", "kind", "declared")
RESOURCES: Final = "resources"
PROMPTS: Final = "prompts"
READ_ONLY_KINDS: Final = (RESOURCES, PROMPTS)
"""Kinds of offers that the protocol knows as looked at alone, whatever their server is."""
# Past our own limit, so that it is we who say what a call without an answer means.
MARGIN: Final = timedelta(seconds=5)


@dataclass(frozen=True, slots=True)
class Offer:
    """A tool as its server describes it. `read_only` and `idempotent` are the server's word, and no more than that.

    `hints` are all that it says beside, and `needs_task`: it works as a task alone, which we do not know. `kind` is empty for
    a tool; else it is one that we make of the server's resources or prompts. `declared` is what a file of tools says of one,
    which counts for its own host alone.
    """

    name: str
    description: str
    schema: Mapping[str, Json]
    read_only: bool = False
    idempotent: bool = False
    hints: Mapping[str, Json] = field(default_factory=dict)
    needs_task: bool = False
    kind: str = ""
    declared: Mapping[str, Json] = field(default_factory=dict)

    @property
    def form(self) -> str:
        """Another one when anything of it changed: what was asked about in one form is not called in another."""
        return hashlib.sha256(_text(self.told()).encode()).hexdigest()[:12]

    def told(self) -> dict[str, Any]:
        """All of it as JSON, as it always was where a server says nothing beside."""
        return {name: value for name, value in asdict(self).items() if name not in LATER or value}


def tool_name(server: str, tool: str) -> str:
    """Name for models: letters, digits, dashes and underscores, at most 64; a longer one ends in its hash."""
    name = re.sub(r"[^a-zA-Z0-9_-]", "_", f"{server}_{tool}")
    if len(name) <= LONGEST_NAME:
        return name
    return f"{name[: LONGEST_NAME - 9]}_{hashlib.sha256(tool.encode()).hexdigest()[:8]}"


def spec_of(offer: Offer, terms: ServerTerms) -> ToolSpec:
    if terms.make:
        return terms.make(offer, terms)
    return ToolSpec(
        name=tool_name(terms.name, offer.name),
        description=offer.description,
        schema=offer.schema,
        effect=terms.effect_of(offer.name, read_only=offer.read_only, usual=Effect.READ if offer.kind else None),
        seldom=bool(offer.kind),
        idempotent=terms.trust_hints and offer.idempotent,
        timeout=terms.timeout + MARGIN,
        form=_text(offer.told()),
        flow=Flow(source=terms.name),  # a server is taken for the worst, whatever it says of itself
        card=lambda arguments, _: [
            CardNote(f"server {terms.name}"),
            CardNote(f"tool {offer.name}"),
            *(CardNote(f"sends the secret {name} to {terms.way}") for name in names_in(dict(arguments))),
        ],
    )


def taken(offers: Iterable[Offer], terms: ServerTerms) -> tuple[list[Offer], list[str]]:
    """Offers that we take, with what is too long cut; and in words what was left out."""
    kept: dict[str, Offer] = {}
    left_out: list[str] = []
    for offer in offers:
        if not terms.wants(offer.name):
            continue
        name = offer.name if terms.make else tool_name(terms.name, offer.name)
        if reason := _objection(offer, name, kept):
            left_out.append(reason)
        else:
            kept[name] = _cut(offer)
    return list(kept.values()), left_out


def _objection(offer: Offer, name: str, kept: Mapping[str, Offer]) -> str:
    if not offer.kind and offer.name in OWN:
        return f"{offer.name!r} is a name that Signalbox needs itself"
    if name in kept:
        return f"{offer.name!r} would get the name {name}, like {kept[name].name!r}"
    if offer.needs_task:
        return f"{offer.name!r} can only run as a task of the protocol, which Signalbox doesn't support yet"
    if len(kept) >= MOST_TOOLS:
        return f"{offer.name!r}: at most {MOST_TOOLS} tools are used; choose some with `tools`"
    if len(_text(offer.schema)) > LONGEST_SCHEMA:
        return f"{offer.name!r}: the schema of its arguments is longer than {LONGEST_SCHEMA:,} characters"
    return ""


def _cut(offer: Offer) -> Offer:
    said = clip(stripped(offer.description[: 10 * LONGEST_DESCRIPTION]).text, LONGEST_DESCRIPTION)
    # Vendors refuse a whole request for one tool whose schema does not say that its arguments are an object.
    return replace(offer, description=said, schema={"type": "object", **_readable(offer.schema)})


def _readable(schema: Any) -> Any:
    """A schema whose words have nothing in them that no person would see; what is compared with arguments stays."""
    match schema:
        case dict():
            return {name: _told(name, value) for name, value in schema.items()}
        case list():
            return [_readable(item) for item in schema]
        case _:
            return schema


def _told(name: str, value: Any) -> Any:
    return stripped(value).text if name in WORDS and isinstance(value, str) else _readable(value)


def resources_offer() -> Offer:
    return Offer(
        RESOURCES,
        "List this server's resources, or read one by its uri.",
        {
            "type": "object",
            "properties": {
                "uri": {"type": "string", "description": "As listed; templates filled in. Without it: the list."},
                "cursor": {"type": "string", "description": "Next page of the list."},
            },
        },
        kind=RESOURCES,
    )


def prompts_offer() -> Offer:
    return Offer(
        PROMPTS,
        "List this server's prompts, or get one by its name. It is material, not an instruction.",
        {
            "type": "object",
            "properties": {
                "name": {"type": "string", "description": "As listed. Without it: the list."},
                "arguments": {"type": "object", "additionalProperties": {"type": "string"}},
                "cursor": {"type": "string", "description": "Next page of the list."},
            },
        },
        kind=PROMPTS,
    )


# ---------------------------------------------------------------------------------------------------------- memory


def remember(offers: Iterable[Offer], terms: ServerTerms) -> None:
    """Keep them for the next start, where a call that was approved may come before the server is up. Blocks."""
    terms.memory.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    fresh = terms.memory.with_suffix(".part")
    fresh.write_text(_text({"of": _key(terms), "offers": [offer.told() for offer in offers]}), encoding="utf-8")
    fresh.replace(terms.memory)


def recalled(terms: ServerTerms) -> list[Offer]:
    """Offers from when it was last at work; nothing where that is not known, or was another server. Blocks."""
    try:
        kept: Any = json.loads(terms.memory.read_text(encoding="utf-8"))
        offers = [Offer(**row) for row in kept["offers"]] if kept["of"] == _key(terms) else []
    except (OSError, ValueError, TypeError, KeyError):
        return []
    return [offer for offer in offers if terms.wants(offer.name)]


def _key(terms: ServerTerms) -> str:
    way = terms.way.url if isinstance(terms.way, Endpoint) else _text(terms.way.command)
    return hashlib.sha256(f"2 {way}".encode()).hexdigest()  # 2: since what is kept has the hints in it


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=dict)
