"""Rules about tool calls that can never decide: of a tool or an argument that is not there, or behind a wider rule."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, Final

from bot.doctor.subject import Subject, warning
from bot.settings.faults import nearest
from bot.settings.policy.rules import PolicyRule
from runtime.contract import Finding, Tool
from runtime.domain.agents.manifest import MAIN

Tools = Mapping[str, Tool]
ANY: Final = "*"
GLOB_MARKS: Final = frozenset("*?[")
VETO: Final = "veto"
NEVER: Final = "So it never decides a call; other rules do."


def idle_rules(subject: Subject) -> Iterator[Finding]:
    """A finding for each rule that fits no call. Tools of MCP servers are known to their process alone."""
    if not (rules := subject.settings.policy):
        return
    from bot.wiring.tools.known import known_tools  # loads what the agent may call

    tools = known_tools(subject.settings)
    servers = [f"{table.name}_" for table in subject.settings.mcp]
    agents = list(dict.fromkeys([MAIN, *(table.name for table in subject.settings.agents)]))
    for number, rule in enumerate(rules, start=1):
        found = _nothing(rule, tools, servers) or _nobody(rule, agents) or _behind(rules[: number - 1], rule)
        what, fix = found or ("", "")
        if what:
            yield warning(f"policy.idle.{number}", f"policy[{number}]{what}", NEVER, fix)


def _nothing(rule: PolicyRule, tools: Tools, servers: Sequence[str]) -> tuple[str, str] | None:
    """The tool or the argument that is not there, and what to write instead."""
    if any(_may_fit(rule.tool, server) for server in servers):
        return None
    fitting = [tool for name, tool in tools.items() if fnmatchcase(name, rule.tool)]
    if not fitting:
        near = nearest(rule.tool, tools)
        fix = (
            f'write "{near}", if you mean that tool'
            if near
            else "signalbox policy test --all lists the tools there are"
        )
        return f' names the tool "{rule.tool}", which doesn\'t exist', fix
    known = {name for tool in fitting for name in _arguments(tool)}
    for setting, names in (("arguments", rule.arguments), ("where", rule.where)):
        if missing := sorted(names.keys() - known):
            took = f"write one of those it takes: {', '.join(sorted(known)) or 'none'}"
            fix = took if len(fitting) == 1 else "write an argument that one of its tools takes"
            return f'.{setting} names "{missing[0]}", and {_none_of(fitting)} takes such an argument', fix
    return None


def _nobody(rule: PolicyRule, agents: Sequence[str]) -> tuple[str, str] | None:
    """The agent that is not there, and what to write instead."""
    if any(fnmatchcase(name, rule.agent) for name in agents):
        return None
    near = nearest(rule.agent, agents)
    fix = f'write "{near}", if you mean that agent' if near else f"write one of {', '.join(agents)}"
    return f' names the agent "{rule.agent}", which doesn\'t exist', fix


def _none_of(tools: Sequence[Tool]) -> str:
    return f"{tools[0].spec.name} never" if len(tools) == 1 else "no tool it matches"


def _arguments(tool: Tool) -> Mapping[str, Any]:
    properties: Any = tool.spec.schema.get("properties")
    return properties if isinstance(properties, Mapping) else {}


def _may_fit(glob: str, server: str) -> bool:
    """True if `glob` may fit the name of some tool that begins with `server`."""
    plain = glob[: next((place for place, sign in enumerate(glob) if sign in GLOB_MARKS), len(glob))]
    return plain.startswith(server) or (plain != glob and server.startswith(plain))


def _behind(before: Sequence[PolicyRule], rule: PolicyRule) -> tuple[str, str] | None:
    """The first rule before it that takes all of its calls. A veto holds behind any rule but another veto."""
    for number, earlier in enumerate(before, start=1):
        if _takes_all(earlier, rule) and (rule.result != VETO or earlier.result == VETO):
            what = f" comes after policy[{number}], which already matches every call it matches"
            return what, f"move it before policy[{number}], or remove it"
    return None


def _takes_all(earlier: PolicyRule, later: PolicyRule) -> bool:
    """True if `earlier` surely fits whatever `later` fits; false where that takes more than equal words."""
    texts = ("tool", "agent", "room", "person")
    return (
        all(getattr(earlier, name) in (ANY, getattr(later, name)) for name in texts)
        and not (earlier.person != ANY and GLOB_MARKS & set(earlier.person))
        and earlier.effect in (None, later.effect)
        and earlier.arguments.items() <= later.arguments.items()
        and not earlier.where
    )
