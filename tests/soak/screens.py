"""What people see, against what should be on their screens. Pure, as the other promises."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from tests.soak.diary import Complaint
from tests.soak.evidence import CANNOT_TELL, Evidence, content, grouped, is_blind, part_id, place_of, text_of
from tests.soak.plan import WEB
from tests.soak.platforms import Shown
from tests.soak.rows import Row

Complaints = Iterator[Complaint]


def each_part_is_on_screen_once(evidence: Evidence) -> Complaints:
    """Parts are told apart by the key or marker that went with them, else by their room and text."""
    parts = grouped(fresh_parts(evidence), lambda part: name_of(part, evidence))
    screens = grouped(evidence.shown, screen_name)
    for name, copies in screens.items():
        if name not in parts:
            words = f"{copies[0].first[:80]!r} stands in {copies[0].room}, and nothing of ours says so."
            yield Complaint("visible part", words, place=copies[0].place, room=copies[0].room)
    for name, same in parts.items():
        if wrong := wrong_copies(same, screens.get(name, []), evidence):
            said = f"{text_of(same[0])[:80]!r} {wrong}."
            yield Complaint("visible part", said, delivery=same[0]["delivery_id"])


def fresh_parts(evidence: Evidence) -> Iterator[Row]:
    """Parts that are messages of their own, and not edits of an earlier one."""
    for delivery, parts in evidence.parts.items():
        edits = evidence.deliveries[delivery]["edits"]
        replaced = {part["receipt"] for part in evidence.parts.get(edits, []) if part["receipt"]}
        is_page = place_of(evidence.deliveries[delivery]["address"])[0] == WEB
        yield from (p for p in parts if not (edits and p["ordinal"] == 1 and (is_page or p["receipt"] in replaced)))


def name_of(part: Row, evidence: Evidence) -> tuple[str, ...]:
    place, room = place_of(evidence.deliveries[part["delivery_id"]]["address"])
    return (place, part_id(part)) if place in (WEB, "key", "lookup") else (place, room, plain(text_of(part)))


def screen_name(shown: Shown) -> tuple[str, ...]:
    return (shown.place, shown.part) if shown.part else (shown.place, shown.room, plain(shown.first))


def wrong_copies(parts: Sequence[Row], copies: Sequence[Shown], evidence: Evidence) -> str | None:
    """What is wrong with how often `parts`, which look alike, are on screen."""
    known = [part for part in parts if part["state"] == "shown"]
    surely = [copy for copy in copies if not is_frozen_copy(copy, evidence)]
    if is_blind(evidence.deliveries[parts[0]["delivery_id"]]):
        return wrong_marks(parts, len(known), copies, evidence)
    if len(copies) < len(known):
        return "is on no screen" if not copies else f"is on screen {len(copies)} times instead of {len(known)}"
    if any(copy.marked for copy in copies):
        return "is marked as a repeat, where one can look"
    if len(copies) > len(parts) and (len(surely) > len(parts) or copies[0].place in (WEB, "key")):
        return f"is on screen {len(copies)} times"
    if copies and copies[0].place == WEB:
        return None  # there people see a card as it is now
    right = {plain(text_of(part)) for part in parts}
    wrong = next((copy for copy in copies if plain(copy.first) not in right), None)
    return f"is on screen as {wrong.first[:80]!r}" if wrong else None


def wrong_marks(parts: Sequence[Row], known: int, copies: Sequence[Shown], evidence: Evidence) -> str | None:
    """Where nobody can tell: each attempt after the first may add a copy, and that one says so; or it is held."""
    further = sum(max(0, part["attempts"] - 1) for part in parts)
    marked = sum(copy.marked for copy in copies)
    fresh = sum(not copy.marked and not is_frozen_copy(copy, evidence) for copy in copies)
    if len(copies) < known:
        return f"is on screen {len(copies)} times, and our records say {known}"
    if fresh > len(parts):
        return f"is on screen {fresh} times without a word that it is a repeat"
    if marked > further:
        return f"is marked as a repeat {marked} times, and was tried again {further} times"
    return "is repeated, where it should be held" if marked and evidence.plan.unknown == "hold" else None


def is_frozen_copy(shown: Shown, evidence: Evidence) -> bool:
    """Whether a frozen process may have shown it, which is counted apart."""
    return any(begin <= shown.at <= end for begin, end in evidence.thaws)


def each_delivery_is_whole(evidence: Evidence) -> Complaints:
    for delivery, parts in evidence.parts.items():
        text = "".join(map(text_of, parts))
        if plain(text) != plain(content(evidence.deliveries[delivery])):
            yield Complaint("visible part", f"The parts of {delivery} are not its text.", delivery=delivery)


def parts_come_in_order(evidence: Evidence) -> Complaints:
    """By the first copy of each."""
    first: dict[tuple[str, ...], int] = {}
    for number, shown in enumerate(evidence.shown):
        first.setdefault(screen_name(shown), number)
    for delivery, parts in evidence.parts.items():
        places = [first[name] for part in parts if (name := name_of(part, evidence)) in first]
        if places != sorted(places) and len({text_of(part) for part in parts}) == len(parts):
            yield Complaint("order", f"The parts of {delivery} stand in another order.", delivery=delivery)


def no_buttons_are_left(evidence: Evidence) -> Complaints:
    """A copy that nobody can tell of may keep them."""
    for shown in evidence.shown:
        if shown.approval and shown.place != CANNOT_TELL and not is_frozen_copy(shown, evidence):
            words = f"The card {shown.id} in {shown.room} still has buttons."
            yield Complaint("approval", words, approval=shown.approval)


def frozen_repeats(evidence: Evidence) -> int:
    """Parts that a frozen process repeated, where nothing refuses that."""
    counted = Counter(screen_name(shown) for shown in evidence.shown if not shown.marked)
    parts = Counter(name_of(part, evidence) for part in fresh_parts(evidence))
    return sum(max(0, number - parts[name]) for name, number in counted.items())


INSTANT = re.compile(r"\[([^\]]*)\]\(time:[^)]*\)")
"""An instant in a text: each platform shows it its own way, with the same words as a fallback."""


def plain(text: str) -> str:
    """As its plain twin says it: which of the two came through is up to the platform."""
    return INSTANT.sub(r"\1", text).replace("*", "")
