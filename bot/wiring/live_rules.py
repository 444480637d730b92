"""Live rules: the rules of the settings, swapped as one value by a reload."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from bot.accounts.naming import Accounts
from bot.accounts.supervisor import AccountSupervisor
from bot.settings.policy.rules import PolicyRule
from bot.settings.schedules import Planning
from bot.settings.sections.rooms import RoomTable
from bot.settings.settings import Settings
from bot.wiring.access import UNNAMED, gate_of
from bot.wiring.agents import manifests_of
from runtime.context.prompt.here import NOWHERE, Here, Place
from runtime.context.prompt.prompts import Prompted, Prompts
from runtime.contract import FIND_TOOLS, SPEND_MORE, Address, Busy, Features
from runtime.domain.agents.manifest import Manifest
from runtime.domain.routing import AccountNames, BusyRules
from runtime.domain.triggers.matching import MessageTriggers
from runtime.policy.rules import SHIPPED, SPEAKS, Policy, Rule, Ruling
from runtime.store.protocol import Gate
from runtime.store.protocol.intake import AskSkills, Measure, no_skills, unmeasured
from runtime.templating.prompts import PromptTemplate, prompt_of
from runtime.text.words import ENGLISH, Languages, by_no_rule


@dataclass(frozen=True, slots=True)
class Rules:
    """Rules for the agent, the reception and the timetable. Whoever decides takes the newest; an open question keeps its own."""

    policy: Policy
    gate: Gate
    prompts: Prompts
    planning: Planning = field(default_factory=Planning)
    destinations: frozenset[str] = frozenset()
    """Rooms to which the settings send something, as they write them."""
    agents: Mapping[str, Manifest] = field(default_factory=dict)
    agent_prompts: Mapping[str, PromptTemplate] = field(default_factory=dict)
    """Prompts of agents that have their own."""
    language: str = ENGLISH
    """Of words for people, where neither a room nor a reader has another."""


class Live:
    """The rules that hold at this moment. A reload puts others here, all at once. `place` is what an account tells of a
    room of its own."""

    def __init__(
        self,
        rules: Rules,
        names: Callable[[], AccountNames] = lambda: UNNAMED,
        place: Callable[[Address], Place] = lambda _: NOWHERE,
    ) -> None:
        self.rules = rules
        self.languages = Languages()
        self._speak()
        self._names = names
        self._place = place
        self._measure: Measure = unmeasured
        self._skills: AskSkills = no_skills
        self._triggers: MessageTriggers | None = None
        self._renew: Callable[[Mapping[str, Manifest]], None] = lambda _: None

    def take(self, rules: Rules) -> None:
        """From now on with these; agents are made anew where their manifests are others."""
        before, self.rules = self.rules, rules
        self._speak()
        if rules.agents != before.agents:
            self._renew(rules.agents)

    def _speak(self) -> None:
        has_rules = any(rule.language for rule in self.rules.gate.rooms.rules)
        self.languages.take(self.rules.language, self._language_of if has_rules else by_no_rule)

    def _language_of(self, place: Hashable) -> str:
        return self.gate().rooms.rule(place).language if isinstance(place, Address) else ""

    def renews(self, renew: Callable[[Mapping[str, Manifest]], None]) -> None:
        """Agents are at work here, which `renew` makes of manifests."""
        self._renew = renew

    def measures(self, measure: Measure, skills: AskSkills = no_skills) -> None:
        """An agent is at work here, whose requests can be measured, and which has `skills`."""
        self._measure, self._skills = measure, skills

    def waits_for(self, triggers: MessageTriggers | None) -> None:
        """From now on messages are looked through for these; for nothing where it is None."""
        self._triggers = triggers

    def gate(self) -> Gate:
        """The gate as a value, with the names that accounts have by now: transactions read it on another thread."""
        gate, names = self.rules.gate, self._names()
        is_other = gate.rooms.named is not names or gate.measure is not self._measure
        if is_other or gate.triggers is not self._triggers:
            rooms = replace(gate.rooms, named=names)
            gate = replace(gate, rooms=rooms, measure=self._measure, skills=self._skills, triggers=self._triggers)
            self.rules = replace(self.rules, gate=gate)
        return gate

    def busy_rules(self) -> BusyRules:
        """Rules for a message that comes while the agent works."""
        gate = self.gate()
        return BusyRules(gate.busy, gate.rooms)

    def busy(self, address: Address) -> Busy:
        """Rule for messages that come while the agent works in a room."""
        return self.busy_rules().at(address)

    def policy(self) -> Policy:
        return self.rules.policy

    def prompt(self, here: Here, own: PromptTemplate | None = None) -> Prompted:
        """The prompt for a room: the main agent's as it is at this moment, or `own` in its place."""
        added, prompts = self.gate().rooms.rule(here.address).prompt, self.rules.prompts
        prompts = replace(prompts, own=own) if own else prompts
        return prompts.at(here, self._place(here.address), added)

    def prompt_of(self, agent: str) -> Callable[[Here], Prompted]:
        """The prompt of an agent as its runs keep it; of one without its own, the main agent's."""
        own = self.rules.agent_prompts.get(agent)
        return partial(self.prompt, own=own) if own else self.prompt


MakeGate = Callable[[Settings], Gate]


def rules_of(settings: Settings, gate: MakeGate = gate_of) -> Rules:
    """Errors: OSError when the file of a prompt cannot be read any more, PromptFault for what is in it by now."""
    prompts, agents = prompts_of(settings), manifests_of(settings)
    return Rules(
        policy_of(settings),
        gate(settings),
        prompts,
        settings.planning,
        destinations_of(settings),
        agents,
        {name: prompt_of(manifest.prompt) for name, manifest in agents.items() if manifest.prompt},
        settings.language,
    )


def prompts_of(settings: Settings) -> Prompts:
    """Errors: OSError, PromptFault."""
    added = {room.prompt_key: prompt_of(room.added) for room in settings.rooms if room.prompt_key}
    return Prompts(prompt_of(settings.run.prompt), added)


def place_in(accounts: Accounts[AccountSupervisor], named: Callable[[Address], str]) -> Callable[[Address], Place]:
    """Facts that the account of an address tells of it, with the name that people gave it."""

    def place(address: Address) -> Place:
        account = accounts.at(address)
        features = account.features() if account else Features()
        return Place(features.title, named(address), features.writing, features.own_rooms)

    return place


def destinations_of(settings: Settings) -> frozenset[str]:
    """Rooms of hooks, schedules, heartbeats and the operators."""
    planned = (room for table in settings.planned for room in table.to)
    rooms = [*(hook.to for hook in settings.hooks), *planned, settings.operators.room]
    return frozenset(str(Address.parse(room)) for room in rooms if room)


def policy_of(settings: Settings) -> Policy:
    """Vetoes of rooms, the rules of the settings, and behind them those that come with the program."""
    shipped = [SPEAKS, *SHIPPED] if settings.speech.name else SHIPPED
    return Policy([*narrowed(settings.rooms), *map(rule_of, settings.policy), *shipped], settings.approvals.terms)


def narrowed(rooms: Iterable[RoomTable]) -> Iterator[Rule]:
    """Vetoes of all tools that a room, with its threads, doesn't have. The one that finds others is everybody's."""
    for room in rooms:
        for address in (room.address, f"{room.address}/*") if room.tools else ():
            name = f"[[rooms]] {room.address}: tools"
            yield Rule(Ruling.VETO, room=address, name=name, spares=(*room.tools, FIND_TOOLS, SPEND_MORE))


def rule_of(rule: PolicyRule) -> Rule:
    where = {name: given.matcher for name, given in rule.where.items()}
    return Rule(
        Ruling(rule.result),
        rule.tool,
        rule.effect,
        rule.agent,
        rule.room,
        rule.person,
        rule.arguments,
        where,
        rule.name,
        rule.asking,
        rule.reason,
        rule.most,
        rule.tainted,
    )
