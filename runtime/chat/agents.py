"""Words about several agents: who answers, who is suspended, who has ended. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final

from runtime.domain.agents.lifecycle import AgentEvent, AgentState
from runtime.text.words import marked, say, say_many, several

USUAL_AGENT: Final = "default"
ONLY_OPERATORS_CHOOSE: Final = marked("Only operators and owners can choose who answers in a room.")
ALONE: Final = marked("There is only one agent here: {agent}.")
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
        return say(ALONE, agent=agent)
    choices = _choices(names, mark)
    if chosen:
        return say("{agent} answers here, as somebody chose.{choices}", agent=agent, choices=choices)
    return say("{agent} answers here.{choices}", agent=agent, choices=choices)


def unknown(name: str, names: Sequence[str], mark: str) -> str:
    near = get_close_matches(name.casefold(), [known.casefold() for known in names], 1)
    hint = next(
        (say(" Did you mean `{known}`?", known=known) for known in names if near and known.casefold() == near[0]), ""
    )
    return say("There's no agent called `{name}`.{hint}{names}", name=name[:64], hint=hint, names=_choices(names, mark))


def nobody(asked: str, names: Sequence[str], mark: str) -> str:
    """Answer to `/ask` with a name that nobody has."""
    name = asked.partition(" ")[0].rstrip(":")[:64]
    if len(names) < 2:
        return say(
            "There's no agent called `{name}`: {names} is the only one here. Just write to it.",
            name=name,
            names=names[0],
        )
    near = get_close_matches(name.casefold(), names, 1)
    hint = say(" Did you mean `{near}`?", near=near[0]) if near else ""
    return say(
        "There's no agent called `{name}` to ask here.{hint} Ask {asks}.",
        name=name,
        hint=hint,
        asks=", ".join(f"`{mark}ask {one} …`" for one in names),
    )


def chosen(who: str, agent: str, state: AgentState, *, thread: bool) -> str:
    """News for everybody in the room."""
    if thread:
        news = say("{who} chose {agent} for this thread, from the next message on.", who=who, agent=agent)
    else:
        news = say("{who} chose {agent} for this room, from the next message on.", who=who, agent=agent)
    return (
        say("{news} It's suspended right now, so messages wait.", news=news) if state is AgentState.SUSPENDED else news
    )


def usual_again(who: str, agent: str) -> str:
    return say("{who} went back to the usual agent. {agent} answers from the next message on.", who=who, agent=agent)


def listed(agents: Iterable[Listed], mark: str) -> str:
    """Answer to `/agents`."""
    lines = [f"- `{one.name}` · {_reached(one)}{one.state}" for one in agents]
    if len(lines) < 2:
        return say("{lines}\n\nThere are no others.", lines=lines[0]) if lines else ""
    return "\n".join([*lines, "", say("`{mark}agent` tells who answers here.", mark=mark)])


def _reached(one: Listed) -> str:
    if one.state is AgentState.TERMINATED:
        return ""
    if one.is_usual:
        return say("answers where no other does · ")
    if one.words:
        return say("write {words} · ", words=say(" or ").join(f"`{word}: …`" for word in one.words))
    return say("answers where it's set to · ")


def _choices(names: Sequence[str], mark: str) -> str:
    return say(" Choose {choices}.", choices=", ".join(f"`{mark}agent {name}`" for name in (*names, USUAL_AGENT)))


# ------------------------------------------------------------------------------------------------- suspend, resume, end


def suspended(agent: str, reason: str) -> str:
    """A line of `/status`."""
    return say("{agent} is suspended{why}", agent=agent, why=_why(reason))


def waits(agent: str, reason: str) -> str:
    """For somebody whose message waits for a suspended agent."""
    return say(
        "{agent} is suspended{reason}. I keep your messages, and it answers them once it's back.",
        agent=agent,
        reason=_why(reason),
    )


def ended(agent: str, reason: str, usual: str) -> str:
    """For a room whose agent has ended."""
    return say("{agent} has ended{reason}. {usual} answers here now.", agent=agent, reason=_why(reason), usual=usual)


def left_open(agent: str, reason: str, waiting: int) -> str:
    """For a conversation in which messages waited for an agent that has ended."""
    told = say("{waiting} that waited for it got no answer.", waiting=several(waiting, "message"))
    return say(
        "{agent} has ended{reason}. {told} If it still matters, ask again: the usual agent answers here now.",
        agent=agent,
        reason=_why(reason),
        told=told,
    )


def cut(agent: str, reason: str) -> str:
    """Last words of a run that waited for people when its agent ended."""
    return say("Stopped, because {agent} has ended{reason}.", agent=agent, reason=_why(reason))


def schedule_ended(name: str, agent: str, reason: str) -> str:
    return say(
        "The schedule **{name}** has ended, because its agent {agent} has{reason}.",
        name=name,
        agent=agent,
        reason=_why(reason),
    )


def failing(count: int, last: str) -> str:
    """The reason why a supervisor suspended an agent."""
    return say("{count} of its runs failed in a row. The last one: {last}", count=count, last=last)


def told_of_move(agent: str, event: AgentEvent, stopped: int) -> str:
    """For the operator who did it."""
    match event:
        case AgentEvent.SUSPEND:
            return say(
                "{agent} is suspended. Messages for it wait, and what it works on goes on to its end.", agent=agent
            )
        case AgentEvent.RESUME:
            return say("{agent} is at work again, on what waited first.", agent=agent)
        case AgentEvent.TERMINATE:
            runs = (
                say_many(" {number} task of it ends now.", " {number} tasks of it end now.", stopped) if stopped else ""
            )
            return say("{agent} has ended.{runs} Its rooms are answered by the usual agent.", agent=agent, runs=runs)


def for_operators(agent: str, reason: str) -> str:
    return say(
        "**The agent {agent} is suspended**{reason}. Messages for it wait. Once the cause is "
        "gone: `signalbox agents resume {agent}`",
        agent=agent,
        reason=_why(reason),
    )


def _why(reason: str) -> str:
    return f": {reason.rstrip('. ')}" if reason else ""
