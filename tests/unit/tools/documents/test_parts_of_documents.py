"""Which parts of a document are shown, and how the rest is reached."""

from __future__ import annotations

import re

import pytest

from tools.documents.parts import PART_CHARS, PARTS_READ_MAX, Document, Part, Unreadable, headed, numbers, pieces, told


def of(count: int, chars: int = 100, read: list[int] | None = None) -> Document:
    def part(place: int) -> Part:
        if read is not None:
            read.append(place)
        return Part(f"page {place + 1}", f"{place + 1}".ljust(chars, "."))

    return Document("PDF", "page", count, part)


def shown(text: str) -> list[int]:
    return [int(found) for found in re.findall(r"^\[page (\d+)\]", text, re.MULTILINE)]


def test_a_short_document_is_shown_whole() -> None:
    text = told(of(5), "", 1_000)
    assert shown(text) == [1, 2, 3, 4, 5]
    assert "left out" not in text


def test_of_a_long_one_both_ends_are_shown_and_how_to_read_on() -> None:
    text = told(of(100), "", 1_000)
    assert shown(text) == [1, 2, 3, 4, 97, 98, 99, 100]
    assert '[… pages 5 to 96 are left out here: pages="5-8" reads on …]' in text
    assert shown(told(of(100), "5-8", 1_000)) == [5, 6, 7, 8]


def test_what_is_left_out_is_never_read() -> None:
    read: list[int] = []
    told(of(10_000, read=read), "1-400", 1_000)
    assert len(set(read)) < 20


def test_no_call_reads_more_than_500_pages_and_says_how_to_go_on() -> None:
    read: list[int] = []
    text = told(of(10_000, 0, read), "", 1_000_000)
    assert max(read) == PARTS_READ_MAX - 1
    assert 'pages="501-10000" reads the rest' in text


def test_a_page_that_alone_is_too_long_is_cut_in_its_middle() -> None:
    text = told(of(1, 5_000), "", 1_000)
    assert "4,000 characters of this page are left out" in text
    assert len(text) < 1_200


def test_a_choice_is_read_as_people_write_it() -> None:
    assert list(numbers("", 3, "page")) == [0, 1, 2]
    assert numbers("2, 3-4,9-", 10, "page") == [1, 2, 3, 8, 9]
    assert numbers("9-99", 10, "page") == [8, 9]
    assert numbers("3", 10, "page") == [2]


@pytest.mark.parametrize("pages", ["x", "0", "5-2", "11", "-3", "1,,2", "9" * 40])
def test_a_choice_of_nothing_is_refused(pages: str) -> None:
    with pytest.raises(Unreadable, match=r"names no pages|There is no page"):
        numbers(pages, 10, "page")


def test_a_text_without_pages_is_cut_into_parts_between_its_lines() -> None:
    parts = pieces((f"line {number}" for number in range(2_000)), "sheet A")
    document = Document.of("Excel workbook", [*parts, Part("sheet B", "x")])
    assert [document.part(place).label for place in (0, 1, len(parts))] == [
        *("part 1: sheet A", "part 2: sheet A"),
        f"part {len(parts) + 1}: sheet B",
    ]
    assert max(len(part.text) for part in parts) <= PART_CHARS + 20
    assert "\n".join(part.text for part in parts).splitlines() == [f"line {number}" for number in range(2_000)]


def test_for_passages_parts_are_headings_under_the_title() -> None:
    assert headed(of(2, 3), "a/leave.pdf", 1_000) == "# leave.pdf\n\n## page 1\n1..\n\n## page 2\n2.."
