"""Documents are cut so that nothing is lost, each part fits, and its lines and headings are right."""

from __future__ import annotations

import time
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from runtime.domain.memory.chunks import CHUNK_MAX_CHARS, OVERLAP_CHARS, chunks
from runtime.knowledge.reading import title_of

LINES = st.lists(st.text(st.characters(exclude_characters="\n\r", codec="utf-8"), max_size=400), max_size=60)


@settings(max_examples=60, deadline=None)
@given(LINES, st.integers(1, 12))
def test_every_line_is_in_a_part_at_its_number(lines: list[str], often: int) -> None:
    lines *= often
    parts = list(chunks("\n".join(lines)))
    covered = {number for part in parts for number in range(part.first_line, part.last_line + 1)}
    assert covered >= {number for number, line in enumerate(lines, start=1) if line.strip()}
    for part in parts:
        assert 0 < len(part.text) <= CHUNK_MAX_CHARS
        assert part.text.split("\n") == lines[part.first_line - 1 : part.last_line]


def test_the_end_of_the_last_line_begins_no_other_one() -> None:
    assert [(part.first_line, part.last_line) for part in chunks("# Leave\n\nThirty days.\n")] == [(1, 3)]


def test_a_long_line_is_cut_at_a_blank_and_nothing_is_lost() -> None:
    line = " ".join(f"word{number}" for number in range(1_000))
    parts = list(chunks(line))
    assert {(part.first_line, part.last_line) for part in parts} == {(1, 1)}
    assert {word for part in parts for word in part.text.split()} == set(line.split())


def test_parts_overlap_a_little_but_not_across_a_heading() -> None:
    prose = [f"Sentence {number} is about leave." for number in range(200)]
    parts = list(chunks("\n".join(prose)))
    for before, after in pairwise(parts):
        shared = range(after.first_line, before.last_line + 1)
        assert 0 < sum(len(prose[number - 1]) + 1 for number in shared) <= OVERLAP_CHARS
    headed = "\n".join([*prose[:40], "## Travel", *prose[:40]])
    [border] = [part for part in chunks(headed) if part.text.startswith("## Travel")]
    assert border.first_line == 41


def test_headings_above_a_part_are_told() -> None:
    text = "# Handbook\n\n" + "About us. " * 120 + "\n\n## Leave ##\n\n### Parents\n\n" + "Thirty days. " * 40
    assert [part.heading for part in chunks(text)] == ["Handbook", "Handbook > Leave"]
    assert "Thirty days." in list(chunks(text))[-1].text


def test_blanks_are_no_part_and_two_megabytes_are_cut_in_time() -> None:
    assert list(chunks(" \n\n\t\n")) == []
    assert len(list(chunks("a b c\n" * 300_000))) > 1_000
    assert len(list(chunks("x" * 2_000_000))) == 1_250


def test_a_line_of_blanks_takes_no_time_whoever_wrote_the_page() -> None:
    began = time.process_time()
    assert title_of("# a" + " " * 4_990 + "x", "notes.md") == "notes.md"
    assert list(chunks("\n".join(["# a" + " " * 190 + "x"] * 1_000)))
    assert time.process_time() - began < 10
