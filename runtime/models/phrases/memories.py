"""Phrases about memory that the demo model understands: to keep a fact, to correct it, to look it up and to forget it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from runtime.contract import Json

Phrase = tuple[str, str, Mapping[str, Json]]

# As `demo_phrases.PHRASES` has them. The group `kept` becomes a memory, see `memory_of`.
MEMORIES: Final[Sequence[Phrase]] = (
    (r"remember (?:for this room|here) that (?P<kept>.+)", "remember", {"scope": "room"}),
    (r"remember (?:for all rooms|everywhere) that (?P<kept>.+)", "remember", {"scope": "agent"}),
    (r"remember(?: that|:) (?P<kept>.+)", "remember", {}),
    (r"correct(?:ion| that)?: ?(?P<kept>.+)", "remember", {}),
    (r"what do you (?:know|remember) about (?P<query>.+)", "recall", {}),
    (r"what(?:'s| is) (?P<query>my .+)", "recall", {}),
    (r"forget (?:what you know about|that|about) (?P<words>.+)", "forget", {}),
    (r"relate (?P<a>.+?) -(?P<kind>.+?)-> (?P<b>.+)", "relate", {}),
    (r"what belongs to (?P<entity>.+)", "about", {}),
    (r"(?:find|search) (?:the )?messages (?:about|with) (?P<query>.+)", "search_messages", {}),
)
WHAT_I_KEEP: Final = """\
- `remember that my dog is called Rex` (or `correct: my dog is called Max`, `remember for this room that …`)
- `what do you know about my dog?` (or `forget what you know about my dog`)"""
FACT: Final = re.compile(
    r"(?P<subject>my|our|the|\w+'s) (?P<relation>.+?) (?:is|are|was) (?P<object>.+)", re.IGNORECASE | re.DOTALL
)
WHOSE: Final = {"my": "the person", "our": "the room", "the": "the room"}
PROPOSED_MAX: Final = 5
KEEPS: Final = re.compile(r"(?:remember|correct)\b", re.IGNORECASE)
FACTS_HEAD: Final = "Facts:"
KEPT_FACT: Final = re.compile(r"- \d{4}-\d\d-\d\d[^:]*\(\w+\): (.+)")


def memory_of(groups: Mapping[str, str]) -> dict[str, Json]:
    """Arguments that keep a sentence: one about the value of something replaces the value before.

    >>> memory_of({"kept": "my dog is called Rex"})
    {'text': 'my dog is called Rex', 'subject': 'the person', 'relation': 'dog'}
    """
    text = groups["kept"]
    found = FACT.fullmatch(text)
    return {"text": text} | ({"subject": _subject(found), "relation": found["relation"]} if found else {})


def _subject(found: re.Match[str]) -> str:
    said = found["subject"]
    return WHOSE.get(said.lower(), said.removesuffix("'s"))


def proposed(said: Sequence[str]) -> list[str]:
    """Lines of the list that a summary ends with: the newest facts about whoever spoke."""
    facts = [(line, found) for line in said if not KEEPS.match(line) and (found := FACT.fullmatch(line.rstrip(".!")))]
    own = [f"- {_subject(found)} | {found['relation']} | {line}" for line, found in facts if found["subject"] != "the"]
    return own[-PROPOSED_MAX:]


def kept_in(told: Sequence[str]) -> list[str]:
    """Facts under the head of a request that adds to a person's summary, without their dates; none in any other request."""
    below = [*told[told.index(FACTS_HEAD) + 1 :]] if FACTS_HEAD in told else []
    return [found[1] for line in below if (found := KEPT_FACT.fullmatch(line))]
