"""`signalbox policy`: what the rules say about a call, and why."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from bot.node.invocation import as_called
from bot.terminal.options import (
    AsJson,
    CallArguments,
    CallEffect,
    CallPeople,
    CallRoom,
    ConfigFile,
    Last,
    Which,
    ask_operator,
    place_of,
    settings_of,
)
from bot.terminal.output import clean, show_json, show_rows
from runtime.errors import ConfigError

if TYPE_CHECKING:
    from bot.operator.api import OperatorApi
    from bot.operator.views import View
    from bot.settings.settings import Settings
    from runtime.policy.explanation import Condition, Considered, Explanation
    from runtime.policy.rules import Ask

commands = typer.Typer(no_args_is_help=True, help="Rules about tool calls: try them, and see which one decided.")

MODE_COLUMNS: Final = {"room": "Room", "mode": "Mode", "trusted": "Trusted", "until": "Until", "set_by": "Set by"}
OVERVIEW_COLUMNS: Final = {
    "tool": "Tool",
    "effect": "Effect",
    "user": "A user",
    "operator": "An operator",
    "owner": "An owner",
    "rule": "Rule",
    "limit": "Limit",
    "else": "With other arguments",
}


def add_to(cli: typer.Typer) -> None:
    cli.add_typer(commands, name="policy")


@commands.command("test")
def try_call(
    context: typer.Context,
    tool: Annotated[str, typer.Option("--tool", metavar="NAME", help="Tool to call.")] = "",
    arg: CallArguments = None,
    room: CallRoom = "",
    person: CallPeople = None,
    effect: CallEffect = "",
    agent: Annotated[str, typer.Option("--agent", help="Name of the agent.")] = "main",
    mode: Annotated[
        str, typer.Option("--mode", help="Mode of the conversation: normal, read-only or plan.")
    ] = "normal",
    everything: Annotated[bool, typer.Option("--all", help="All known tools, instead of one.")] = False,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Show what the settings decide about a call, by which rule, and why. It calls nothing, and Signalbox needn't be running."""
    settings = settings_of(context, config)
    asker = CallAsker(place_of(room), names_of(settings, person or ()), agent, mode_named(mode))
    if everything == bool(tool):
        raise ConfigError("Name a tool with --tool, or take all of them with --all.")
    if everything:
        _show_all(settings, asker, as_json=as_json)
        return
    arguments = dict(map(argument_of, arg or ()))
    effect = effect_of(settings, tool, effect)
    check_arguments(settings, tool, arguments)
    ask = asker.ask(tool, effect, arguments)
    show_ruling(settings, ask, asker.mode, as_json=as_json)


@commands.command()
def explain(
    context: typer.Context,
    approval: Annotated[
        str,
        typer.Argument(
            metavar="[ID]",
            show_default=False,
            help="Its id, as `approvals list --all` shows it, or the first characters.",
        ),
    ] = "",
    last: Last = False,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Show which rule in the current settings asks about this call, and why."""
    from runtime.agent.tool_calls import ASKED_BY
    from runtime.policy.taint import told_in

    settings = settings_of(context, config)
    which = Which(approval, last, "question", _of_rules)

    async def work(api: OperatorApi) -> tuple[View, list[View]]:
        found = await api.approval(await which.of(api))
        return found, [one for one in await api.grants() if one["approval"] == found["id"]]

    row, granted = ask_operator(settings, work)
    if row["kind"] == "person":
        raise ConfigError("This question is about letting somebody in. No rule asks it; see access.default.")
    if row["kind"] == "answer":
        raise ConfigError("Here the agent asks a person something. No rule is involved.")
    asker = CallAsker(row["address"], frozenset(row["requester_names"]), "main")
    if not as_json:
        who = f", for {row['requester']}" if row["requester"] else ""
        typer.echo(clean(f"{row['tool']} in {row['room']}{who}: {row['state']}."))
        if row["rule"]:
            typer.echo(clean(f'The question came from the rule "{row["rule"]}".'))
        if read := told_in(row["caution"]):
            typer.echo(clean(f"{read} So it asks, even where a rule or a grant allows it."))
        if asked := [words for words in row["caution"].split("\n\n") if words.startswith(ASKED_BY)]:
            typer.echo(clean(" ".join(asked)))
        for one in granted:
            told = f"Its answer made a grant ({one['state']}): {one['brief']}, {one['where']}."
            typer.echo(clean(as_called(f"{told} See signalbox grants show {one['id']}")))
    show_ruling(
        settings, asker.ask(row["tool"], row["effect"], json.loads(row["arguments"])), asker.mode, as_json=as_json
    )


async def _of_rules(api: OperatorApi) -> list[View]:
    """Newest questions about calls: those to people are asked by no rule."""
    return [row for row in await api.approvals() if row["kind"] in ("call", "outcome")]


@commands.command("modes")
def modes(context: typer.Context, as_json: AsJson = False, config: ConfigFile = None) -> None:
    """List conversations whose mode was set."""
    rows = ask_operator(settings_of(context, config), lambda api: api.modes())
    if as_json:
        show_json(rows)
        return
    show_rows(rows, MODE_COLUMNS, empty="Every conversation is in normal mode.")


@commands.command("mode")
def set_mode(
    context: typer.Context,
    room: Annotated[str, typer.Argument(help="Address of the room or thread, or the room's name.")],
    mode: Annotated[str, typer.Argument(help="normal, read-only or plan.")],
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Set the mode of a conversation. Everybody there is told."""
    row = ask_operator(settings_of(context, config), lambda api: api.set_mode(room, mode))
    if as_json:
        show_json(row)
        return
    typer.echo(clean(f"{row['room']}: {row['meaning']}."))


@dataclass(frozen=True, slots=True)
class CallAsker:
    """Place and people of a call."""

    room: str
    names: frozenset[str]
    agent: str
    mode: str = "normal"

    def ask(self, tool: str, effect: str, arguments: Mapping[str, Any]) -> Ask:
        from runtime.contract import Effect
        from runtime.policy.rules import Ask

        return Ask(tool, Effect(effect), arguments, self.agent, self.room, self.names)


def mode_named(mode: str) -> str:
    if mode not in ("normal", "read-only", "plan"):
        raise ConfigError(f"--mode {mode}: expected normal, read-only or plan.")
    return mode


def names_of(settings: Settings, given: Sequence[str]) -> frozenset[str]:
    """All that rules may call these people by. Errors: ConfigError for a name that nobody has and no rule names."""
    from bot.settings.faults import nearest
    from runtime.text.naming import is_identity

    known = _people(settings) if given else []
    ruled = {rule.person for rule in settings.policy}
    names: set[str] = set()
    for one in given:
        found = [each for each in known if one in each]
        if not (found or one in ruled or is_identity(one)):
            near = nearest(one, [each[0] for each in known])
            fix = f"Did you mean {near}?" if near else "signalbox people list has the names."
            raise ConfigError(
                f"--person {one}: I don't know anybody by that name. {fix} For somebody new, give an identity, such as slack:work/U1."
            )
        names |= {one, *(name for each in found for name in each)}
    return frozenset(names)


def _people(settings: Settings) -> Sequence[Sequence[str]]:
    """Name and identities of everybody, the name first; nobody where no store was made yet."""
    _, is_file, place = settings.database_url.partition("sqlite:///")
    if is_file and not settings.database_url_env and not Path(place).exists():
        return []
    rows = ask_operator(settings, lambda api: api.people())
    return [[row["name"], *row["identities"]] for row in rows]


def argument_of(written: str) -> tuple[str, Any]:
    name, equals, value = written.partition("=")
    if not equals or not name.removesuffix(":"):
        raise ConfigError(f"--arg {written}: expected NAME=VALUE, such as command=ls.")
    if not name.endswith(":"):
        return name, value
    try:
        return name.removesuffix(":"), json.loads(value)
    except (ValueError, RecursionError):
        raise ConfigError(f'--arg {written}: expected JSON after :=, such as 5, true or ["a"].') from None


def effect_of(settings: Settings, tool: str, given: str, asked_as: str = "--tool ") -> str:
    from runtime.contract import Effect

    if given:
        if given not in list(Effect):
            raise ConfigError(f"--effect {given}: expected {', '.join(Effect)}.")
        return given
    from bot.settings.faults import nearest
    from bot.wiring.tools.known import known_tools, server_effect

    known = known_tools(settings)
    if found := known[tool].spec.effect if tool in known else server_effect(settings, tool):
        return found.value
    near = nearest(tool, known)
    fix = f"Did you mean {near}? " if near else ""
    raise ConfigError(
        f"{asked_as}{tool}: I know no tool by that name. {fix}Otherwise, say what it may do with --effect."
    )


def check_arguments(settings: Settings, tool: str, given: Collection[str]) -> None:
    """Errors: ConfigError names an argument that a tool of ours never takes. Those of MCP servers are known to them alone."""
    from bot.wiring.tools.known import known_tools

    known = known_tools(settings)
    takes = list(known[tool].spec.schema.get("properties", {})) if tool in known else given
    if wrong := next((name for name in given if name not in takes), None):
        listed = f"It takes: {', '.join(takes)}." if takes else "It takes none."
        raise ConfigError(f"--arg {wrong}: {tool} has no such argument. {listed}")


def _show_all(settings: Settings, asker: CallAsker, *, as_json: bool) -> None:
    from bot.wiring.tools.known import known_tools
    from bot.wiring.tools.outcomes import outcome

    rows = [
        outcome(
            settings, asker.ask(name, tool.spec.effect.value, {}), asker.mode, tool.spec.schema.get("properties", {})
        )
        for name, tool in sorted(known_tools(settings).items())
    ]
    if as_json:
        show_json(rows)
        return
    show_rows(rows, OVERVIEW_COLUMNS, empty="No tools are known.")
    for table in settings.mcp:
        if table.enabled:
            typer.echo(f'Tools of the MCP server "{table.name}" are known while it runs; try one by name with --tool.')


def show_ruling(settings: Settings, ask: Ask, mode: str, *, as_json: bool) -> None:
    from bot.wiring.tools.outcomes import explained_call

    found = explained_call(settings, ask, mode)
    terms = _terms(settings, ask) if found.ruling.value == "ask" else {}
    if as_json:
        by = found.by
        show_json(
            {
                "ruling": found.ruling.value,
                "why": found.why,
                "rule": by.rule.name or by.title if by else "",
                "mode": found.mode.value,
                "reason": found.reason,
                "limit": str(by.rule.limit or "") if by else "",
                "conditions": [_condition(one) for one in by.conditions] if by else [],
                "passed": [{"rule": one.title, "because": _because(one)} for one in found.passed if one.number],
                "terms": terms,
            }
        )
        return
    for line in _told(found, terms):
        typer.echo(clean(line))


def _told(found: Explanation, terms: Mapping[str, str]) -> Iterator[str]:
    yield f"{found.ruling.value}: {found.why}"
    for one in found.by.conditions if found.by and found.mode.value == "normal" else ():
        yield f"  {_condition(one)}"
    if found.reason:
        yield f"reason: {found.reason}"
    if found.limit:
        yield f"limit: {found.limit}"
    own = [one for one in found.passed if one.number is not None]
    near = [one for one in own if one.failed is not None and one.failed.setting != "tool"]
    for passed in near:
        yield f"{passed.title[0].upper()}{passed.title[1:]} does not fit: {_because(passed)}."
    if others := len(own) - len(near):
        yield f"{others} rule is about other tools." if others == 1 else f"{others} rules are about other tools."
    for name, words in terms.items():
        yield f"{name}: {words}"


def _because(one: Considered) -> str:
    return _condition(one.failed) if one.failed else ""


def _condition(one: Condition) -> str:
    if not one.got:
        return f'{one.setting} is missing; the rule wants "{one.wanted}"'
    return f'{one.setting} "{one.got}" {"fits" if one.holds else "does not fit"} "{one.wanted}"'


def _terms(settings: Settings, ask: Ask) -> dict[str, str]:
    """Terms of the question, in words."""
    from bot.wiring.live_rules import policy_of
    from runtime.domain.approvals import Rights
    from runtime.markup.moments import roughly

    terms = policy_of(settings).terms(ask)
    rights = Rights(frozenset(settings.access.approvers), settings.access.self_approval)
    told = {
        "asked in": ", ".join(terms.to),
        "decided by": _deciders(rights.approvers, terms.approvers, dangerous=ask.effect.value == "danger"),
        "expires after": roughly(terms.expires or settings.approvals.expires),
    }
    if terms.quorum > 1:
        told["people needed"] = str(terms.quorum)
    if terms.four_eyes or not rights.self_approval:
        told["never by"] = "the person who asked"
    if terms.reason_required:
        told["a denial needs"] = "a reason"
    if not terms.editable:
        told["may be changed"] = "by nobody"
    return told


def _deciders(approvers: frozenset[str], narrowed: Sequence[str], *, dangerous: bool) -> str:
    allowed = ", ".join(sorted(approvers)) if approvers else "operators and owners"
    who = f"{', '.join(narrowed)} (if among {allowed})" if narrowed else allowed
    return f"{who}; since it is dangerous, operators and owners only" if dangerous and approvers else who
