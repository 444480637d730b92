"""The ways of text through a tool: whose words its results hold, and what each of its arguments names.

A tool that declares nothing is taken for the worst: its results are words of strangers, and each of its arguments may carry
anything anywhere. That is so for every tool of an MCP server until somebody says more of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Reads(StrEnum):
    """Authors of the words in the results of a tool."""

    OURS = "ours"  # our own, or those of people in this conversation
    PEOPLE = "people"  # those of people we know, in other rooms too
    NAMES = "names"  # names, numbers and dates that anybody may have chosen
    OUTSIDE = "outside"  # texts that anybody may have written


class Carries(StrEnum):
    """Kind of a value in a call, by the harm that it could do if somebody else had chosen it."""

    HOST = "host"  # an address on the web: whoever runs it reads all of it
    RECIPIENT = "recipient"  # a person, a room, an account: whoever gets something, or gets in
    THING = "thing"  # a file, an event, a title: the call is about it
    AMOUNT = "amount"  # a number that costs something
    WORDS = "words"  # a text: harmless where nobody else reads it, and checked for what it leads to elsewhere
    DETAIL = "detail"  # a time, a length, a choice of few: the tool takes nothing that could carry words


@dataclass(frozen=True, slots=True)
class Flow:
    """Declaration of a tool: where its results come from, and where its calls go.

    `source` names the origin for people: a plain word such as `mail`, or an argument in braces, such as `{url}`, of which
    the host counts, or `{path}`. `stays`: a call changes nothing outside this conversation. `carries` has a kind for each
    argument, and what it leaves out is a thing; without it nothing is known of any argument.
    """

    reads: Reads = Reads.OUTSIDE
    source: str = ""
    stays: bool = False
    carries: Mapping[str, Carries] | None = None


UNDECLARED: Final = Flow()
"""The flow of a tool that says nothing."""
