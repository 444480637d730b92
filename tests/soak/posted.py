"""Messages that runs posted beside their answers: each call is one message, whatever was killed. Pure, as the other promises."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from typing import Final

from tests.soak.clerk import sent
from tests.soak.diary import Complaint
from tests.soak.evidence import Evidence, content, is_blind, place_of
from tests.soak.plan import Want, board_of
from tests.soak.rows import Row

Complaints = Iterator[Complaint]
POSTED: Final = "It is posted as message"
"""Begins the result of a call that posted one."""


def each_call_posts_one_message(evidence: Evidence) -> Complaints:
    """One for each call that is done, none for more than were made, and in the room that was named."""
    made, done = Counter[str](), Counter[str]()
    for (_, call), step in evidence.steps.items():
        line = evidence.lines.get(call.partition("-")[0])
        if line is not None and line.want is Want.SEND:
            made[line.tag] += 1
            done[line.tag] += step["result"].startswith(POSTED)
    found = [row for row in evidence.tables["deliveries"] if row["origin"].startswith("posted:")]
    posts = Counter(content(row).partition(" ")[0] for row in found)
    for tag in {*made, *posts}:
        if not done[tag] <= posts[tag] <= made[tag]:
            words = f"{tag} was posted {posts[tag]} times, by {made[tag]} calls, and {done[tag]} of these were told so."
            yield Complaint("posted once", words, tag=tag)
    for row in found:
        if wrong := wrong_post(row, made):
            yield Complaint("posted once", f"{content(row)!r} {wrong}.", delivery=row["id"])


def wrong_post(row: Row, made: Collection[str]) -> str | None:
    text = content(row)
    tag = text.partition(" ")[0]
    if tag not in made or text != sent(tag):
        return "was posted, and nobody asked for it"
    if "/".join(place_of(row["address"])) != board_of(tag).partition(":")[2]:
        return f"was posted in {row['address']}"
    if row["state"] != "shown" and not (row["state"] == "held" and is_blind(row)):
        return f"is {row['state']}"
    return None
