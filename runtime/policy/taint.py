"""Taint: after a text from outside has entered a run, its calls get no further than a card. Pure.

A run knows two things of where text came from. `Taint` are the **sources**: each text from outside that a model read in
it, with the step in which it entered. It is a record of few words, made anew from the run's steps by `taint_of`, so a kill
changes nothing. `Named` are the words of **people of this room**: the messages of the conversation, and calls that somebody
approved on a card, or the prompt of a schedule that one of them set. What they name cannot have been chosen from outside.

A tool declares a `Flow`. It is **a source** by `reads`: `OUTSIDE` for the web, mail, files, MCP servers and other bots;
`NAMES` where only a list of names is read, which counts once one of them is longer than a name; `PEOPLE` and `OURS` are
none. Of a file its reader has to look up who wrote it: one of a person of this room is `OURS`. It has **an effect outside this conversation** if it writes and does not say that it `stays`, and reads that call
a `HOST` have one too: an address made of what was read carries it out.

After that, a call that a rule or a grant allows asks, unless the rule or grant says `tainted`. One thing else lets it run: the
tool has declared what its arguments carry, and people of the room named all of it. A rule that asks or denies is never made
weaker, and a call that asks says what was read before it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from fnmatch import fnmatchcase
from typing import Final, Protocol

from runtime.contract import UNDECLARED, Carries, Effect, Flow, Json, Reads
from runtime.policy.named import Named, host_of, hosts_perhaps_in, is_plain_name
from runtime.policy.rules import DENYING, Ruling
from runtime.text.glyphs import shortened
from runtime.text.naming import listed
from runtime.text.words import marked

SOURCES_SHOWN: Final = 3
"""Sources that a card names; of more it says how many."""
SOURCE_MAX_CHARS: Final = 60
"""Characters of a source, and of a value that nobody named, on a card."""
UNNAMED_SHOWN: Final = 3
"""Values that nobody named, on a card."""
SOURCE_ARGUMENTS: Final = re.compile(r"(?:\{\w+\})+")
"""A source that is the value of an argument: the first that is given, where it names several."""
OWN_FOLDER: Final = "the room's folder"
"""In place of the path `.`, which nobody reads as a name in a sentence."""
START_STEP: Final = 0
"""The step of what came with a run: from whoever handed it on, or with its memory."""


@dataclass(frozen=True, slots=True)
class Source:
    """A text from outside: its origin as people call it, and the number of the step in which it entered."""

    name: str
    step: int


@dataclass(frozen=True, slots=True)
class Taint:
    """Sources of a run in the order in which they entered. Those up to the step `lifted` were forgiven by a person."""

    sources: tuple[Source, ...] = ()
    lifted: int = -1

    @property
    def active(self) -> tuple[Source, ...]:
        return tuple(one for one in self.sources if one.step > self.lifted)

    def entered(self, name: str, step: int) -> Taint:
        """With a source, once."""
        if any(one.name == name for one in self.active):
            return self
        return Taint((*self.sources, Source(name, step)), self.lifted)

    def lift(self, step: int) -> Taint:
        """As a person forgives it: what entered up to `step` counts no more, what enters later does."""
        return Taint(self.sources, max(self.lifted, step))

    def handed_on(self) -> Taint:
        """For whatever is made of this run: a child, a memory, a file that is read later."""
        return Taint(tuple(Source(one.name, START_STEP) for one in self.active))

    def to_json(self) -> str:
        """A record for a row; empty for a run that read nothing from outside."""
        return json.dumps(asdict(self), ensure_ascii=False) if self.sources else ""

    @classmethod
    def from_json(cls, text: str) -> Taint:
        if not text:
            return cls()
        raw = json.loads(text)
        return cls(tuple(Source(one["name"], one["step"]) for one in raw["sources"]), raw["lifted"])


CLEAN: Final = Taint()


@dataclass(frozen=True, slots=True)
class ReadStep:
    """A call that ran, as the run's steps have it, and what its tool declares. `result` is what the model was told."""

    number: int
    tool: str
    flow: Flow
    arguments: Mapping[str, Json]
    result: str


def taint_of(steps: Iterable[ReadStep], begun: Taint = CLEAN) -> Taint:
    """The taint of a run after `steps`, which began with `begun`: the same whoever asks, and after whatever kill."""
    taint = begun
    for step in steps:
        if is_outside(step):
            taint = taint.entered(origin(step), step.number)
    return taint


def is_outside(step: ReadStep) -> bool:
    """True if the result of a call may hold words of a stranger."""
    match step.flow.reads:
        case Reads.OURS | Reads.PEOPLE:
            return False
        case Reads.NAMES:
            return not all(map(_is_listed, step.result.splitlines()))
        case Reads.OUTSIDE | Reads.FILES:
            return bool(step.result.strip())


def _is_listed(line: str) -> bool:
    """True for a line of a list that holds one name, or nothing."""
    name = line.strip().removeprefix("-").strip().strip("'\"[],")
    return not name or is_plain_name(name)


def origin(step: ReadStep) -> str:
    """The source of a call's result as people call it: a host, a path, a word of the tool's own, or else the tool."""
    declared = step.flow.source
    if not SOURCE_ARGUMENTS.fullmatch(declared):
        return declared or step.tool
    names = declared[1:-1].split("}{")
    name = next((one for one in names if step.arguments.get(one)), names[0])
    value = step.arguments.get(name)
    if (step.flow.carries or {}).get(name) is Carries.HOST:
        return host_of(value) or step.tool
    if not isinstance(value, str) or not value.strip():
        return step.tool
    return OWN_FOLDER if value.strip() == "." else value


AFTER: Final = "After reading "
AFTER_SOURCES: Final = marked("After reading {sources}.")
AFTER_MANY: Final = marked("After reading {sources} and {number} more.")


def told_in(caution: str) -> str:
    """The words about outside text in what a card warns of; or nothing."""
    return next((one for one in caution.split("\n\n") if one.startswith(AFTER)), "")


def after(taint: Taint) -> str:
    """A sentence for a card; empty for a run that is not tainted.

    >>> after(Taint().entered("example.org", 2).entered("mail", 4))
    'After reading example.org and mail.'
    """
    names = [shortened(one.name, SOURCE_MAX_CHARS) for one in taint.active]
    if not names:
        return ""
    if len(names) > SOURCES_SHOWN:
        return AFTER_MANY.format(sources=", ".join(names[:SOURCES_SHOWN]), number=len(names) - SOURCES_SHOWN)
    return AFTER_SOURCES.format(sources=" and ".join(filter(None, [", ".join(names[:-1]), names[-1]])))


# ------------------------------------------------------------------------------------------------------------ a call


class Allows(Protocol):
    """A rule or a grant that allows a call. `tainted`: after outside text too."""

    @property
    def tainted(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class CarriedCall:
    """A call that is ruled on, with the flow of its tool.

    `shown` has for an argument that is an id the name by which people know the thing, where the tool itself looked it up.
    `is_sealed`: it holds a secret, so its values must not stand on a card.
    """

    effect: Effect
    arguments: Mapping[str, Json]
    flow: Flow = UNDECLARED
    shown: Mapping[str, str] = field(default_factory=dict)
    is_sealed: bool = False


@dataclass(frozen=True, slots=True)
class Known:
    """All that a run knows of where text came from."""

    taint: Taint = CLEAN
    named: Named = field(default_factory=Named)


@dataclass(frozen=True, slots=True)
class TaintedRuling:
    """The ruling after taint. `why` is a sentence for the card, `unnamed` the values that nobody here named."""

    ruling: Ruling
    why: str = ""
    unnamed: tuple[str, ...] = ()

    @property
    def caution(self) -> str:
        """Plain words for the card: what was read, and what in the call nobody here named."""
        named = listed(self.unnamed[:UNNAMED_SHOWN], "or")
        more = len(self.unnamed) - UNNAMED_SHOWN
        others = f", and {more} more weren't named" if more > 0 else ""
        return f"{self.why} Nobody here named {named}{others}." if named else self.why


def tainted_ruling(ruling: Ruling, call: CarriedCall, known: Known, rule: Allows | None) -> TaintedRuling:
    """Rule on a call once more, now that outside text may have led to it.

    `ruling` is that of the rules, modes and grants, and `rule` the rule or grant that allows, None where the effect does.
    """
    why = after(known.taint)
    if not why or ruling in DENYING:
        return TaintedRuling(ruling)
    if ruling is Ruling.ASK:
        return TaintedRuling(ruling, why)
    if (rule is not None and rule.tainted) or not reaches_out(call):
        return TaintedRuling(ruling)
    if call.is_sealed or (call.effect is not Effect.READ and call.flow.carries is None):
        return TaintedRuling(Ruling.ASK, why)  # nobody knows what is a name in there
    unnamed = tuple(dict.fromkeys(_unnamed(call, known.named)))
    if not unnamed:
        return TaintedRuling(ruling)
    return TaintedRuling(Ruling.ASK, why, tuple(shortened(one, SOURCE_MAX_CHARS) for one in unnamed))


def reaches_out(call: CarriedCall) -> bool:
    """True if a call may have an effect outside this conversation."""
    if call.effect is not Effect.READ:
        return not call.flow.stays
    if call.flow.carries is None:
        return any(hosts_perhaps_in(text) for value in call.arguments.values() for text in _texts(value))
    return any(call.flow.carries.get(name) is Carries.HOST for name in call.arguments)


def _unnamed(call: CarriedCall, named: Named) -> Iterator[str]:
    """Values of a call that nobody of the room named, as they are."""
    if call.flow.carries is None and call.effect is Effect.READ:
        hosts = sorted(
            {host for value in call.arguments.values() for text in _texts(value) for host in hosts_perhaps_in(text)}
        )
        yield from (host for host in hosts if not _is_known(host, named))
        return
    has_readers = any(_carried(call.flow, name) is Carries.RECIPIENT and value for name, value in _given(call))
    for name, value in _given(call):
        kind = _carried(call.flow, name)
        if call.effect is Effect.READ and kind is not Carries.HOST:
            continue
        if kind is Carries.WORDS and not (has_readers or _has_host(call)):
            continue
        for text in (call.shown[name],) if name in call.shown else _texts(value):
            yield from _missing(kind, text, named)


def _missing(kind: Carries, value: str, named: Named) -> Iterator[str]:
    match kind:
        case Carries.HOST:
            host = host_of(value)
            known = _is_known(host, named)
        case Carries.RECIPIENT:
            known = named.recipient(value)
        case Carries.THING:
            known = named.thing(value)
        case Carries.AMOUNT:
            known = named.amount(value)
        case Carries.WORDS:
            yield from named.leads(value)
            return
        case Carries.DETAIL:
            return
    if not known:
        yield host or value if kind is Carries.HOST else value


def _is_known(host: str, named: Named) -> bool:
    """True for a host that people named, or that a rule lists."""
    return named.host(host) or any(host and fnmatchcase(host, glob) for glob in named.hosts)


def _has_host(call: CarriedCall) -> bool:
    return any(_carried(call.flow, name) is Carries.HOST for name, _ in _given(call))


def _carried(flow: Flow, argument: str) -> Carries:
    return (flow.carries or {}).get(argument, Carries.THING)


def _given(call: CarriedCall) -> Iterator[tuple[str, Json]]:
    """Arguments that say something."""
    yield from ((name, value) for name, value in call.arguments.items() if value not in (None, "", [], {}))


def _texts(value: Json) -> Iterator[str]:
    """The single values within an argument, as text."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield name
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)
    elif value is not None:
        yield value if isinstance(value, str) else json.dumps(value)
