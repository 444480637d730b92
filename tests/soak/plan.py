"""What will happen, drawn from a seed alone: what people write, the weather of the platforms, how each life ends.

What a person clicks depends on the cards that come up, so only the manner in which they will click is drawn here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import count
from random import Random
from typing import Final

from bot.testing.channel.faults import Do
from runtime.contract import Busy
from tests.faults.points import BY_RULES as RULE_POINTS
from tests.faults.points import CONDENSED, FELL_BACK, HANDED_ON, HANDED_OVER, POINTS, RESERVED

WEB: Final = "web"
FAKES: Final = ("key", "lookup", "probe", "none")
PLACES: Final = (WEB, *FAKES)
ADA: Final = "ada"  # the owner
BOB: Final = "bob"  # a plain user, who may not decide anything

LEASE: Final = 1.0  # seconds, as the program under test is set
WITHIN: Final = 2.5  # seconds for which a life waits for its planned point; then it is killed wherever it is
LATE: Final = 0.4  # seconds at most by which a platform applies a cut request late; the second look comes at 1.2


class Want(StrEnum):
    CHAT = "chat"  # its tag comes back
    LOOK = "look"  # a tool that reads
    WRITE = "write"  # a tool that writes: asked about
    FIRE = "fire"  # a dangerous one: asked about
    POST = "post"  # one that writes and is allowed by policy: asked about only when it was cut
    STAMP = "stamp"  # one that writes, is allowed, and may be repeated
    HAND = "hand"  # a piece of work for another agent, whose answer is waited for
    SPLIT = "split"  # several pieces at once
    ERRAND = "errand"  # a piece that asks people for approval
    LATER = "later"  # a piece that nobody waits for: the conversation is told of its end
    TASK = "task"  # a piece in the background: the room is told
    SEND = "send"  # a message in another room, beside the answer
    FLOW = "flow"  # a workflow
    GOAL = "goal"  # a goal, worked on until it is accepted
    TELL = "tell"  # its tag comes back, and a trigger begins a workflow


class Manner(StrEnum):
    """How a person answers the card of a call."""

    APPROVE = "approve"
    APPROVE_TWICE = "approve-twice"
    DENY = "deny"
    DENY_THEN_APPROVE = "deny-then-approve"
    APPROVE_THEN_DENY = "approve-then-deny"
    FORGED_FIRST = "forged-first"  # a made-up id, then approve
    STRANGER_FIRST = "stranger-first"  # somebody who may not, then approve
    ELSEWHERE_FIRST = "elsewhere-first"  # from another room, then approve
    LATE = "late"  # approve, and once more long after
    IGNORE = "ignore"  # until it expires


HANDED: Final = (Want.HAND, Want.SPLIT, Want.ERRAND, Want.LATER)
"""Wants that other agents work on."""
BY_RULES: Final = frozenset({Want.FLOW, Want.GOAL})
"""Wants that lead to work by rules, whose questions only Ada answers."""
SPOKEN: Final = frozenset({Want.CHAT, Want.TELL})
"""Wants that lead to no call."""
FLOW_PIECES: Final = (Want.LOOK, Want.POST, Want.POST, Want.WRITE, Want.LOOK, Want.STAMP)
"""Calls of the workflow that a line of `Want.FLOW` starts, each under a tag of its own."""
ASKED: Final = frozenset({Want.WRITE, Want.FIRE})
EFFECTS: Final = frozenset({Want.WRITE, Want.FIRE, Want.POST})
"""Wants whose tool may run at most once without a person's word."""


@dataclass(frozen=True, slots=True)
class Line:
    """One thing a person wants. The tag is in nothing else that is ever written."""

    tag: str
    want: Want
    slowly: bool = False
    length: int = 0  # of an answer in several messages, in words
    manner: Manner = Manner.APPROVE

    @property
    def text(self) -> str:
        return f"{self.tag} {self.want}{' slowly' * self.slowly}{f' {self.length}' * bool(self.length)}"

    @property
    def pieces(self) -> tuple[Line, ...]:
        """What others are to do of it, under tags of their own."""
        wants = pieces_of(self.tag, self.want)
        return tuple(replace(self, tag=f"{self.tag}{n}", want=want, length=0) for n, want in enumerate(wants, 1))

    @property
    def family(self) -> Iterator[Line]:
        """Itself, and all that is handed on of it, at any depth."""
        yield self
        for piece in self.pieces:
            yield from piece.family


def board_of(tag: str) -> str:
    """The room, as people write it, in which a line of `Want.SEND` has its message posted: nobody else speaks there."""
    place = FAKES[int(tag[1:]) % len(FAKES)]
    return f"fake:{place}/{place}board"


TAG_CHARS: Final = 6
"""Of a line that a person writes; a piece of it has one more for each level."""


def pieces_of(tag: str, want: Want) -> tuple[Want, ...]:
    """By the tag alone, so that whoever reads a line knows its pieces."""
    number = int(tag[1:])
    match want:
        case Want.HAND if len(tag) == TAG_CHARS:
            return ((Want.LOOK, Want.CHAT, Want.STAMP, Want.HAND)[number % 4],)
        case Want.HAND:
            return (Want.LOOK,)
        case Want.SPLIT:
            return (Want.CHAT, Want.LOOK, Want.STAMP)[: 2 + number % 2]
        case Want.ERRAND:
            return ((Want.WRITE, Want.FIRE, Want.POST)[number % 3],)
        case Want.LATER:
            return ((Want.LOOK, Want.CHAT)[number % 2],)
        case Want.TASK:
            return ((Want.LOOK, Want.WRITE, Want.CHAT, Want.HAND)[number % 4],)
        case Want.FLOW:
            return FLOW_PIECES
        case Want.GOAL:
            return (Want.LOOK,)
        case _:
            return ()


@dataclass(frozen=True, slots=True)
class Say:
    """A message of one or more lines. `copies`: the same words in so many events.

    `again` are the seconds after which the platform delivers its event once more.
    """

    lines: tuple[Line, ...]
    who: str = ADA
    copies: int = 1
    again: tuple[float, ...] = ()
    pause: float = 0.0


@dataclass(frozen=True, slots=True)
class Stop:
    pause: float = 0.0


Act = Say | Stop


@dataclass(frozen=True, slots=True)
class Gust:
    """After `pause` seconds the platform does this to the next `count` requests. `do` None: it is away for a while."""

    pause: float
    do: Do | None
    count: int = 1
    seconds: float = 0.0
    on: str = "send"


@dataclass(frozen=True, slots=True)
class AtPoint:
    """Killed when a named point is passed for the `hit`-th time, or after so many seconds wherever it is."""

    point: str
    hit: int = 1
    within: float = WITHIN


@dataclass(frozen=True, slots=True)
class AtMoment:
    """Killed after so many seconds, counted from when it was ready or from when it was started.

    `all_nodes`: and every other node with it.
    """

    seconds: float
    from_start: bool = False
    all_nodes: bool = False


@dataclass(frozen=True, slots=True)
class Leave:
    """Asked to go after so many seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Freeze:
    """Stopped after `after` seconds for `length`; then it goes on for `then` seconds and is killed."""

    after: float
    length: float
    then: float


End = AtPoint | AtMoment | Leave | Freeze


@dataclass(frozen=True, slots=True)
class Plan:
    """One episode. `ends` has a list for each node; `rooms` and `weather` go on until the last end has come.

    `one_hears`: only the first node hears the fake channels, and people wait until every node is there.
    """

    name: str
    rooms: Mapping[tuple[str, str], Iterator[Act]]
    ends: Sequence[Sequence[End]]
    weather: Mapping[str, Iterator[Gust]] = field(default_factory=dict)
    busy: Busy = Busy.STEER
    unknown: str = "repeat"
    think: float = 0.0  # seconds that the model takes
    one_hears: bool = False

    @property
    def places(self) -> list[str]:
        return sorted({place for place, _ in self.rooms}, key=PLACES.index)


def drawn(seed: int, episode: int, kills: int, *, nodes: int = 1, rooms: int = 3) -> Plan:
    """An episode of the campaign, with `kills` kills on its nodes together."""
    name = f"{seed}/{episode}"
    top = Random(name)
    share = [kills // nodes + (number < kills % nodes) for number in range(nodes)]
    named = [(place, f"{place}room{number}") for place in PLACES for number in range(1, rooms + 1)]
    return Plan(
        name,
        {
            (place, room): acts(Random(f"{name}/{room}"), place, tags_of(number))
            for number, (place, room) in enumerate(named, 1)
        },
        [list(ends(Random(f"{name}/node/{number}"), of_one)) for number, of_one in enumerate(share)],
        {place: weather(Random(f"{name}/weather/{place}"), place) for place in FAKES},
        busy=top.choice([Busy.STEER, Busy.STEER, Busy.FOLLOWUP, Busy.COLLECT]),
        unknown=top.choice(["repeat", "repeat", "hold"]),
        think=top.choice([0.0, 0.05, 0.25]),
    )


# -------------------------------------------------------------------------------------------------------- the traffic


def tags_of(room: int) -> Iterator[str]:
    """Words that nobody else ever writes: w01001, w01002, … in the first room."""
    return (f"w{room:02}{number:03}" for number in count(1))


def acts(chance: Random, place: str, tags: Iterator[str]) -> Iterator[Act]:
    """What people do in one room, without end."""
    while True:
        match chance.choices(["say", "several", "twice", "burst", "stop"], [50, 12, 12, 16, 6])[0]:
            case "say":
                said = line(chance, tags)
                yield Say((said,), author(chance, place, said), 1, repeats(chance), pause(chance))
            case "several":
                lines = tuple(line(chance, tags) for _ in range(chance.randint(2, 4)))
                yield Say(lines, ADA, 1, repeats(chance), pause(chance))
            case "twice":
                said = Line(next(tags), chance.choice([Want.CHAT, Want.CHAT, Want.LOOK]))
                yield Say((said,), ADA, chance.randint(2, 3), repeats(chance), pause(chance))
            case "burst":
                for _ in range(chance.randint(2, 5)):
                    said = line(chance, tags)
                    yield Say((said,), author(chance, place, said), 1, repeats(chance))
            case _:
                yield Stop(pause(chance))


def line(chance: Random, tags: Iterator[str]) -> Line:
    want = chance.choices(list(Want), [32, 11, 9, 6, 9, 6, 6, 5, 5, 4, 6, 8, 7, 6, 6])[0]
    slowly = want not in (*SPOKEN, Want.FLOW) and chance.random() < 0.4
    length = chance.choice([0, 0, 0, 120]) if want is Want.CHAT else 0
    weights = [30, 14, 14, 8, 8, 6, 6, 6, 6, 2]
    return Line(next(tags), want, slowly, length, chance.choices(list(Manner), weights)[0])


def author(chance: Random, place: str, said: Line) -> str:
    is_bob = place != WEB and chance.random() < 0.12
    return BOB if is_bob and said.want not in BY_RULES else ADA


def repeats(chance: Random) -> tuple[float, ...]:
    return chance.choice([(), (), (0.0,), (0.3,), (0.0, 2.0)])


def pause(chance: Random) -> float:
    return min(chance.expovariate(1 / 1.6), 5.0)


# ----------------------------------------------------------------------------------------------- weather and endings


def weather(chance: Random, place: str) -> Iterator[Gust]:
    """What goes wrong there, without end. Where a key is the way to look, a form that is refused now and not before
    would be a platform that contradicts itself."""
    kinds = ["error", "busy", "before", "after", "late", "away", *["form"] * (place != "key")]
    while True:
        wait = chance.uniform(0.3, 2.5)
        on = chance.choice(["send", "send", "edit"])
        match chance.choice(kinds):
            case "error":
                yield Gust(wait, Do.ERROR, chance.randint(1, 4), on=on)
            case "busy":
                yield Gust(wait, Do.BUSY, chance.randint(1, 3), chance.uniform(0.1, 0.8), on)
            case "before":
                yield Gust(wait, Do.CUT_BEFORE, chance.randint(1, 2), on=on)
            case "after":
                yield Gust(wait, Do.CUT_AFTER, chance.randint(1, 2), on=on)
            case "late":
                yield Gust(wait, Do.CUT_LATE, 1, chance.uniform(0.05, LATE))
            case "form":
                yield Gust(wait, Do.FORM)
            case _:
                yield Gust(wait, None, seconds=chance.uniform(0.2, 1.5))


SELDOM: Final = (CONDENSED, RESERVED, *FELL_BACK, *HANDED_ON, *RULE_POINTS)
"""Points that a life passes seldom. They are drawn more often than their number, so that a short campaign has some of each."""


def ends(chance: Random, kills: int) -> Iterator[End]:
    """How the lives end until there were so many kills."""
    while kills:
        match chance.choices(["point", "moment", "start", "freeze", "leave"], [50, 36, 4, 5, 5])[0]:
            case "point":
                where = chance.choices([POINTS, SELDOM], [60, 40])[0]
                point, hit = chance.choice(where), chance.choice([1, 1, 2, 3, 5])
                # Of each a life sees one or none, so a later hit of the one is the first of the other.
                yield AtPoint(HANDED_OVER, 1) if (point, hit > 1) == (CONDENSED, True) else AtPoint(point, hit)
            case "moment":
                yield AtMoment(chance.uniform(0.0, 2.0), all_nodes=chance.random() < 0.25)
            case "start":
                yield AtMoment(chance.uniform(0.05, 0.9), from_start=True)
            case "freeze":
                yield Freeze(chance.uniform(0.1, 1.0), LEASE * chance.uniform(1.2, 2.5), chance.uniform(0.3, 2.0))
            case _:
                yield Leave(chance.uniform(0.1, 1.5))
                continue
        kills -= 1
