"""Words about several agents: who answers, who is suspended, who has ended. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final

from runtime.domain.agents.lifecycle import AgentEvent, AgentState
from runtime.markup.moments import several

USUAL_AGENT: Final = "default"
ONLY_OPERATORS_CHOOSE: Final = "Only operators and owners can choose who answers in a room."
ALONE: Final = "There is only one agent here: {agent}."
BLOCK: Final = re.compile(r"\s*(?:#{1,6}\s|[-*+]\s|\d+[.)]\s|>|`{3}|~{3}|\||\$\$)")
"""Beginning of a text that stands on lines of its own: a heading, a list, a quote, code, a table."""


@dataclass(frozen=True, slots=True)
class Listed:
    """An agent as `/agents` tells of it. `words` name it in a message."""

    name: str
    state: AgentState
    words: Sequence[str] = ()
    is_usual: bool = False


def in_its_name(agent: str, text: str) -> str:
    """`text` as an agent says it who isn't the usual one.

    >>> in_its_name("ops", "Done.")
    '*ops* · Done.'
    """
    return f"*{agent}* ·{chr(10) * 2 if BLOCK.match(text) else ' '}{text}"


# ------------------------------------------------------------------------------------------------------- who answers


def answers(agent: str, *, chosen: bool, names: Sequence[str], mark: str) -> str:
    """Answer to `/agent`."""
    if len(names) < 2:
        return ALONE.format(agent=agent)
    return f"{agent} answers here{', as somebody chose' if chosen else ''}.{_choices(names, mark)}"


def unknown(name: str, names: Sequence[str], mark: str) -> str:
    near = get_close_matches(name.casefold(), [known.casefold() for known in names], 1)
    hint = next((f" Did you mean `{known}`?" for known in names if near and known.casefold() == near[0]), "")
    return f"There's no agent called `{name[:64]}`.{hint}{_choices(names, mark)}"


def nobody(asked: str, names: Sequence[str], mark: str) -> str:
    """Answer to `/ask` with a name that nobody has."""
    name = asked.partition(" ")[0].rstrip(":")[:64]
    if len(names) < 2:
        return f"There's no agent called `{name}`: {names[0]} is the only one here. Just write to it."
    near = get_close_matches(name.casefold(), names, 1)
    hint = f" Did you mean `{near[0]}`?" if near else ""
    return (
        f"There's no agent called `{name}` to ask here.{hint} Ask {', '.join(f'`{mark}ask {one} …`' for one in names)}."
    )


def chosen(who: str, agent: str, state: AgentState, *, thread: bool) -> str:
    """News for everybody in the room."""
    news = f"{who} chose {agent} for this {'thread' if thread else 'room'}, from the next message on."
    return f"{news} It's suspended right now, so messages wait." if state is AgentState.SUSPENDED else news


def usual_again(who: str, agent: str) -> str:
    return f"{who} went back to the usual agent. {agent} answers from the next message on."


def listed(agents: Iterable[Listed], mark: str) -> str:
    """Answer to `/agents`."""
    lines = [f"- `{one.name}` · {_reached(one)}{one.state}" for one in agents]
    if len(lines) < 2:
        return f"{lines[0]}\n\nThere are no others." if lines else ""
    return "\n".join([*lines, "", f"`{mark}agent` tells who answers here."])


def _reached(one: Listed) -> str:
    if one.state is AgentState.TERMINATED:
        return ""
    if one.is_usual:
        return "answers where no other does · "
    if one.words:
        return f"write {' or '.join(f'`{word}: …`' for word in one.words)} · "
    return "answers where it's set to · "


def _choices(names: Sequence[str], mark: str) -> str:
    return f" Choose {', '.join(f'`{mark}agent {name}`' for name in (*names, USUAL_AGENT))}."


# ------------------------------------------------------------------------------------------------- suspend, resume, end


def suspended(agent: str, reason: str) -> str:
    """A line of `/status`."""
    return f"{agent} is suspended{_why(reason)}"


def waits(agent: str, reason: str) -> str:
    """For somebody whose message waits for a suspended agent."""
    return f"{agent} is suspended{_why(reason)}. I keep your messages, and it answers them once it's back."


def ended(agent: str, reason: str, usual: str) -> str:
    """For a room whose agent has ended."""
    return f"{agent} has ended{_why(reason)}. {usual} answers here now."


def left_open(agent: str, reason: str, waiting: int) -> str:
    """For a conversation in which messages waited for an agent that has ended."""
    told = f"{several(waiting, 'message')} that waited for it got no answer."
    return f"{agent} has ended{_why(reason)}. {told} If it still matters, ask again: the usual agent answers here now."


def cut(agent: str, reason: str) -> str:
    """Last words of a run that waited for people when its agent ended."""
    return f"Stopped, because {agent} has ended{_why(reason)}."


def schedule_ended(name: str, agent: str, reason: str) -> str:
    return f"The schedule **{name}** has ended, because its agent {agent} has{_why(reason)}."


def failing(count: int, last: str) -> str:
    """The reason why a supervisor suspended an agent."""
    return f"{count} of its runs failed in a row. The last one: {last}"


def told_of_move(agent: str, event: AgentEvent, stopped: int) -> str:
    """For the operator who did it."""
    match event:
        case AgentEvent.SUSPEND:
            return f"{agent} is suspended. Messages for it wait, and what it works on goes on to its end."
        case AgentEvent.RESUME:
            return f"{agent} is at work again, on what waited first."
        case AgentEvent.TERMINATE:
            runs = f" {several(stopped, 'task')} of it end{'s' if stopped == 1 else ''} now." if stopped else ""
            return f"{agent} has ended.{runs} Its rooms are answered by the usual agent."


def for_operators(agent: str, reason: str) -> str:
    return (
        f"**The agent {agent} is suspended**{_why(reason)}. Messages for it wait. "
        f"Once the cause is gone: `signalbox agents resume {agent}`"
    )


def _why(reason: str) -> str:
    return f": {reason.rstrip('. ')}" if reason else ""
