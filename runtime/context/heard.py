"""Texts of a conversation that decide about its calls: those from outside, and those of its people. Pure.

A run reads its conversation from the beginning, also what runs before it read. So its taint is that of the conversation,
made anew from the turns each time: from the lines by which `runtime.text.outside` names a source. They are in the rows, so a
kill, another node or a tool that is gone changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from runtime.contract import AssistantTurn, Turn, UserTurn
from runtime.domain.transcript import OURS
from runtime.policy.matchers import Matcher
from runtime.policy.matching.hosts import Host
from runtime.policy.matching.words import All
from runtime.policy.named import Named, host_of
from runtime.policy.rules import Ask, Rule
from runtime.policy.taint import CLEAN, Taint
from runtime.text.outside import sources_in

_QUOTED: Final = re.compile("^>.*$", re.MULTILINE)


def taint_in(turns: Iterable[Turn]) -> Taint:
    """Sources of the results and messages in `turns`; what a model wrote itself names none."""
    return taint_of_texts(turn.text for turn in turns if not isinstance(turn, AssistantTurn))


def taint_of_texts(texts: Iterable[str], begun: Taint = CLEAN) -> Taint:
    """The taint after these texts, which came in this order."""
    taint = begun
    for step, text in enumerate(texts, 1):
        for name in sources_in(text):
            taint = taint.entered(name, step)
    return taint


def said_in(turns: Sequence[Turn]) -> tuple[str, ...]:
    """Words that people said to the agent in `turns`: not our own remarks, and no message with a text from outside in it.

    Nor what they quote: a platform puts it before an answer, and it may be the words of a misled model.
    """
    said = (turn.text for turn in turns if isinstance(turn, UserTurn) and not turn.overheard)
    return tuple(_QUOTED.sub("", text) for text in said if not (text.startswith(OURS) or sources_in(text)))


def with_listed(named: Named, ask: Ask, allows: Rule | None) -> Named:
    """`named` with the hosts that the rule lists by which the call is allowed: it surely fits, so they are those of the call."""
    listed = [name for name, matcher in allows.where.items() if _lists_hosts(matcher)] if allows else []
    hosts = tuple(host for name in listed if (host := host_of(ask.arguments.get(name))))
    return replace(named, hosts=(*named.hosts, *hosts)) if hosts else named


def _lists_hosts(matcher: Matcher) -> bool:
    return isinstance(matcher, Host) or (isinstance(matcher, All) and any(map(_lists_hosts, matcher.matchers)))
