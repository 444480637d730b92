"""The newest output of a process: bounded, read once, and what was lost is counted."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tools.processes.ring import Ring


@given(st.lists(st.one_of(st.text(min_size=1, max_size=40), st.integers(1, 40)), max_size=40))
def test_all_output_is_read_once_or_counted_as_lost(steps: list[str | int]) -> None:
    ring, said, told, lost = Ring(100), b"", "", 0
    for step in steps:
        if isinstance(step, str):
            ring.feed(step.encode())
            said += step.encode()
        else:
            piece = ring.take(step)
            lost += piece.lost
            told += piece.text
            assert piece.more <= 100
    while (piece := ring.take(7)).text or piece.more or piece.lost:
        lost += piece.lost
        told += piece.text
    if not lost:
        assert told.encode() == said
    assert lost + ring.unread <= len(said)
    assert ring.written == len(said)


def test_a_flood_takes_no_memory() -> None:
    ring = Ring()
    for _ in range(1_000):
        ring.feed(b"x" * 65_536)
    piece = ring.take(10)
    assert (piece.lost, len(piece.text), piece.more) == (1_000 * 65_536 - 200_000, 10, 200_000 - 10)
