"""Carries out `/agent`, which chooses who answers in a room or thread, and `/agents`."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from runtime.chat import agents as words
from runtime.contract import Address, Addressing, Commanded, Person, Role, Signal
from runtime.domain.agents.lifecycle import AgentState
from runtime.domain.agents.manifest import MAIN
from runtime.domain.agents.naming import words_of
from runtime.store.agents.answering import CHOOSE, CHOOSE_NO_MORE, answering, choice_row
from runtime.store.agents.held_back import held_back
from runtime.store.common import fact
from runtime.store.protocol import Gate
from runtime.store.sql.driver import Op
from runtime.text.words import say


def agented(signal: Signal, command: Commanded, who: Person, gate: Gate, now: datetime) -> Op[tuple[str, bool]]:
    """Answer to `/agent`, and whether everybody in the room is to read it."""
    wanted, mark = command.argument.strip(), signal.command_mark
    found = yield from answering(signal, who, gate)
    names = [name for name in (MAIN, *(agent.name for agent in gate.agents)) if name in found.known]
    if not wanted or len(names) < 2:
        return words.answers(found.agent, chosen=found.chosen, names=names, mark=mark), False
    if who.role < (Role.USER if signal.reach is Addressing.DIRECT else Role.OPERATOR):
        return say(words.ONLY_OPERATORS_CHOOSE), False
    here = _meant(signal)
    if wanted.casefold() == words.USUAL_AGENT:
        return (yield from _usual_again(signal, here, who, gate, now)), True
    agent = next((name for name in names if name.casefold() == wanted.casefold()), "")
    if not agent:
        return words.unknown(wanted, names, mark), False
    yield CHOOSE, choice_row(here, agent, who, now)
    yield from fact(now, "agent chosen", who.name, str(here), agent)
    held = (yield from held_back()).get(agent)
    state = held.state if held else AgentState.RUNNING
    return words.chosen(who.name, agent, state, thread=bool(here.thread)), True


def _usual_again(signal: Signal, here: Address, who: Person, gate: Gate, now: datetime) -> Op[str]:
    if (yield CHOOSE_NO_MORE, {"here": str(here)}):
        yield from fact(now, "agent chosen", who.name, str(here), words.USUAL_AGENT)
    return words.usual_again(who.name, (yield from answering(signal, who, gate)).agent)


def _meant(signal: Signal) -> Address:
    """A command in a thread is about that thread; one that began it, and any other, about the room."""
    address = signal.address
    return replace(address, thread="") if address.thread == signal.message_id else address


def asked_of_nobody(signal: Signal, command: Commanded, who: Person, gate: Gate) -> Op[str]:
    """Answer to `/ask` with the name of no agent: else it had been found and asked."""
    found = yield from answering(signal, who, gate)
    known = words_of(agent for agent in gate.agents if agent.name in found.known)
    return words.nobody(command.argument, [MAIN, *known], signal.command_mark)


def agents_listed(signal: Signal, gate: Gate) -> Op[str]:
    """Answer to `/agents`."""
    held = yield from held_back()
    states = {name: one.state for name, one in held.items()}
    named = words_of(gate.agents)
    others = (
        words.Listed(
            agent.name,
            states.get(agent.name, AgentState.RUNNING),
            [word for word, name in named.items() if name == agent.name],
        )
        for agent in gate.agents
    )
    usual = words.Listed(MAIN, states.get(MAIN, AgentState.RUNNING), is_usual=True)
    return words.listed([usual, *others], signal.command_mark)
