"""Faults of agents that only show when their manifests are looked at together, and beside the tools and models there are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from pydantic import ValidationError

from bot.settings.agents.executors import executor_faults
from bot.settings.agents.tables import AgentTable
from bot.settings.faults import nearest
from bot.settings.tools.folder import declared
from runtime.contract import Effect
from runtime.domain.agents.binding import Tie, binding_of, ties
from runtime.domain.agents.capabilities import Capabilities, Excess, covers, is_within, of_manifest
from runtime.domain.agents.globs import ANYTHING, meet
from runtime.domain.agents.manifest import MAIN

if TYPE_CHECKING:
    from bot.settings.sources import Layers

Fault = tuple[str, str]
"""The setting, and what is wrong with it."""
OF_MAIN: Final = {"prompt": "run.prompt_file", "prompt_file": "run.prompt_file", "model": "model.name"}
"""Settings that the main agent has elsewhere."""
FILES: Final = ("prompt_file", "answers")
CONDITIONS: Final = ("rooms", "people", "accounts", "channels", "roles")


@dataclass(frozen=True, slots=True)
class Given:
    """An agent as the settings give it, and its table as it is written. `has_prompt`: it names words or a file of its own."""

    place: str
    raw: Mapping[str, Any]
    table: AgentTable
    has_prompt: bool
    file: str

    @property
    def name(self) -> str:
        return self.table.name

    @property
    def beside(self) -> str:
        """The end of a fault: the file it is in."""
        return f" (from {self.file})" if self.file else ""


def faults_together(layers: Layers) -> Iterator[Fault]:
    """Faults of all agents. One that is wrong by itself is told with its own settings, and left out here."""
    agents = [given for place, table in layers.tables("agents") if (given := _given(layers, place, table))]
    if not agents:
        return
    by_name: dict[str, Given] = {}
    for given in agents:
        by_name.setdefault(given.name, given)
    known = cache(lambda: tools_known(layers))
    for given in agents:
        for setting, fault in (
            *_prompts(given),
            *_models(given, layers),
            *_tools(given, known),
            *_delegates(given, by_name),
            *executor_faults(given.raw),
        ):
            yield f"{given.place}.{setting}", f"{fault}{given.beside}"
    yield from _words(agents)
    yield from _circles(by_name)
    yield from _ties(by_name)
    if any(given.table.delegates_to for given in agents):
        yield from _wider(by_name, known())


def _given(layers: Layers, place: str, table: Mapping[str, Any]) -> Given | None:
    """The agent of a table without its settings that are wrong by themselves; None where there is nothing else.

    Files that it names are looked at with their settings.
    """
    left = {name: value for name, value in table.items() if name not in FILES}
    while True:
        try:
            checked = AgentTable.model_validate(left)
        except ValidationError as error:
            wrong = {detail["loc"][0] for detail in error.errors() if detail["loc"]}
            if not wrong & left.keys():
                return None
            left = {name: value for name, value in left.items() if name not in wrong}
        else:
            has_prompt = bool(str(table.get("prompt") or "").strip() or table.get("prompt_file"))
            return Given(place, table, checked, has_prompt, layers.source(place))


def tools_known(layers: Layers) -> dict[str, Effect]:
    """Tools by name, each with its effect; those of an MCP server, known while it runs, as one: `github_*`."""
    from tools.built_in import built_in_tools  # loads what the agent may call

    found = {name: tool.spec.effect for name, tool in built_in_tools().items()}
    for setting in ("tools.installed", "tools.of_programs"):
        named = layers.get(setting)
        found |= {name: Effect.READ for name in named if isinstance(name, str)} if isinstance(named, list) else {}
    found |= dict(declared(layers))
    servers = [table["name"] for _, table in layers.tables("mcp") if isinstance(table.get("name"), str)]
    return found | {f"{name}_*": Effect.READ for name in servers}


def _prompts(given: Given) -> Iterator[Fault]:
    if given.name == MAIN:
        for setting, elsewhere in OF_MAIN.items():
            if setting in given.table.model_fields_set or (setting == "prompt_file" and given.has_prompt):
                yield setting, f"is set for the main agent by {elsewhere}; move it there"
                return
    elif not given.has_prompt and given.table.executor == "model":
        yield "prompt", 'is missing; add prompt = "You are …", or prompt_file = "prompts/ops.md"'


def _models(given: Given, layers: Layers) -> Iterator[Fault]:
    wanted, usual = given.table.model, layers.get("model.name")
    names = [table["name"] for _, table in layers.tables("models") if isinstance(table.get("name"), str)]
    if wanted and wanted != usual and wanted not in names:
        near = nearest(wanted, names)
        yield "model", f'"{wanted}" names no model; {f"did you mean {near}?" if near else "add it under [[models]]"}'


def _tools(given: Given, known: Callable[[], Mapping[str, Effect]]) -> Iterator[Fault]:
    for glob in given.table.tools:
        if why := _fits_none(glob, known):
            yield "tools", why


def names_no_tool(glob: str, layers: Layers) -> str:
    """The fault of a glob that fits no tool, with what it may stand for; empty for one that does."""
    return _fits_none(glob, lambda: tools_known(layers))


def _fits_none(glob: str, known: Callable[[], Mapping[str, Effect]]) -> str:
    if glob == ANYTHING or any(_may_be(glob, name) for name in known()):
        return ""
    near = nearest(glob.strip("*?"), known())
    fix = f"did you mean {near}?" if near else "signalbox tools list shows them"
    return f'"{glob}" fits no tool; {fix}'


def _may_be(glob: str, name: str) -> bool:
    return meet(glob, name) if name.endswith(ANYTHING) else fnmatchcase(name, glob)


def _delegates(given: Given, by_name: Mapping[str, Given]) -> Iterator[Fault]:
    for name in given.table.delegates_to:
        if name not in by_name and name != MAIN:
            near = nearest(name, [*by_name, MAIN])
            fix = f"did you mean {near}?" if near else f"add it under [[agents]], or as agents/{name}.toml"
            yield "delegates_to", f'"{name}" names no agent; {fix}'


def _words(agents: Sequence[Given]) -> Iterator[Fault]:
    """Words that address two agents."""
    known = {MAIN: MAIN}
    for given in agents:
        for word in given.table.mentions or (given.name,):
            other = known.setdefault(word.casefold(), given.name)
            if other != given.name:
                yield f"{given.place}.mentions", f'"{word}" addresses {other} too; choose another word{given.beside}'


def _circles(by_name: Mapping[str, Given]) -> Iterator[Fault]:
    """Agents that hand work round. One that names itself splits its work; `depth` ends that."""
    told: set[str] = set()
    for name, given in by_name.items():
        circle = None if name in told else _circle(by_name, name)
        if circle:
            told |= set(circle)
            way = " → ".join([*circle, name])
            yield (
                f"{given.place}.delegates_to",
                f"leads in a circle: {way}; take an agent out of one of these lists{given.beside}",
            )


def _circle(by_name: Mapping[str, Given], start: str) -> list[str] | None:
    """Agents on a way from `start` back to itself, over others."""
    ways, seen = [[start]], {start}
    while ways:
        way = ways.pop()
        table = by_name[way[-1]].table if way[-1] in by_name else None
        for name in table.delegates_to if table else ():
            if name == start and len(way) > 1:
                return way
            if name not in seen:
                seen.add(name)
                ways.append([*way, name])
    return None


def _ties(by_name: Mapping[str, Given]) -> Iterator[Fault]:
    bindings = [binding_of(given.table.manifest) for given in by_name.values()]
    for tie in ties(bindings):
        later, setting = by_name[tie.other.agent], _setting_of(tie)
        fix = f"narrow the {setting} of one of them"
        yield f"{later.place}.{setting}", f"{tie}, and nothing says which one answers; {fix}{later.beside}"


def _setting_of(tie: Tie) -> str:
    """The kind of condition that the tie is about."""
    return next(name for name in CONDITIONS if tie.there in getattr(tie.other, name))


def _wider(by_name: Mapping[str, Given], known: Mapping[str, Effect]) -> Iterator[Fault]:
    for parent in by_name.values():
        for name in parent.table.delegates_to:
            child = by_name.get(name)
            if child is None or child is parent:
                continue
            if excess := _excess(parent.table, child.table, known):
                fix = f"take it from {name}, or give it to {parent.name}"
                yield f"{parent.place}.delegates_to", f"{excess}; {fix}{parent.beside}"


def wider_than(
    tables: Sequence[AgentTable], parent: str, table: Mapping[str, Any], known: Mapping[str, Effect]
) -> Excess | None:
    """The first tool or effect that an agent of such a table has, and `parent` hasn't. One that is wrong is told elsewhere."""
    try:
        child = AgentTable.model_validate({**table, "prompt": "-"})
    except ValidationError:
        return None
    maker = next((one for one in tables if one.name == parent), AgentTable(name=parent))
    return _excess(maker, child, known)


def _excess(parent: AgentTable, child: AgentTable, known: Mapping[str, Effect]) -> Excess | None:
    """Tools and effects alone: depth and money are shared out when work is handed on."""
    mine, theirs = _capabilities(parent, known), _capabilities(child, known)
    return covers(mine, replace(theirs, depth=mine.depth, money=mine.money))


def _capabilities(table: AgentTable, known: Mapping[str, Effect]) -> Capabilities:
    """Capabilities by the tools that are left of those known, once their effects were looked at."""
    capabilities = of_manifest(table.manifest, known)
    left = [name for name in known if capabilities.may_use(name) and is_within(known[name], table.effects)]
    return replace(capabilities, tools=tuple(left))
