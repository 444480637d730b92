"""Each kind of document, made by another program, as the model reads it."""

from __future__ import annotations

import io

import pytest
from pypdf import PageObject, PdfReader, PdfWriter

from tests.unit.tools.documents import made
from tests.unit.tools.documents.made import text
from tools.documents.parts import Unreadable


def test_a_pdf_that_chromium_printed_has_its_pages_and_title() -> None:
    told = text(made.CHROMIUM, "x.pdf")
    assert told.startswith("PDF, 2 pages. Title: Leave handbook.\n[page 1]\nLeave\nEverybody has thirty days")
    assert "Norway 25" in told
    assert told.endswith("[page 2]\nParents\nParents may stay at home for a year.")


def test_only_the_pages_that_are_asked_for_are_read() -> None:
    told = text(made.MATPLOTLIB, "x.pdf", "3, 1")
    assert (
        told
        == "PDF, 3 pages. Title: Sales of May.\n[page 3]\nSales of region 3: 300 units\n\n[page 1]\nSales of region 1: 100 units"
    )


def test_a_pdf_that_anybody_may_open_is_read_though_it_is_encrypted() -> None:
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(made.MATPLOTLIB)))
    writer.encrypt("", "owner's", algorithm="AES-256")
    locked = io.BytesIO()
    writer.write(locked)
    assert "region 2: 200 units" in text(locked.getvalue(), "x.pdf")


def test_a_word_document_keeps_its_headings_lists_and_tables() -> None:
    assert text(made.word(), "x.docx").splitlines() == [
        "Word document.",
        "# Handbook",
        "## Leave",
        "Everybody has thirty days.",
        "- ask early",
        "Country | Days | Since",
        "Norway | 25 | 1988",
        "both | one",
    ]


def test_a_workbook_has_its_sheets_with_numbered_rows_and_formulas_nobody_worked_out() -> None:
    assert text(made.workbook(2), "x.xlsx").splitlines() == [
        "Excel workbook, 2 parts. Sheets: Sales, Notes.",
        "[part 1: sheet Sales]",
        "1: region | total",
        "2: R0 | 0 | =B2*2",
        "3: R1 | 10",
        "",
        "[part 2: sheet Notes]",
        "1: checked by Ann",
    ]


def test_a_presentation_has_its_slides_tables_and_notes() -> None:
    assert text(made.presentation(), "x.pptx") == (
        "Presentation, 2 slides.\n[slide 1]\n# Plans\nsell more\nsleep more\nNotes: smile\n\n[slide 2]\nMay | 12"
    )


def test_a_mail_has_its_headers_its_text_and_names_of_what_is_attached() -> None:
    told = text(made.mail(), "x.eml")
    assert told.startswith(
        "Mail. Title: Prices für May.\nFrom: Ann <ann@example.org>\nTo: bob@example.org\nSubject: Prices für May\n"
    )
    assert "See the table." in told
    assert told.endswith("Attached: prices.csv (text/csv, 4 bytes)")


def test_a_book_has_its_chapters_in_their_order() -> None:
    told = text(made.book(), "x.epub")
    assert (
        told
        == "Book, 2 parts. Title: Nights.\n[part 1: chapter 1]\n# One\n\nIt was late.\n\n[part 2: chapter 2]\nThen it was early."
    )


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_a_table_is_read_whatever_stands_between_its_values(mark: str) -> None:
    data = f'a{mark}b\n"x{mark}y"{mark}2\n'.encode()
    assert text(data, "x.csv").splitlines() == [
        "Table. 2 rows, numbered.",
        "1: a | b",
        f"2: x{mark}y | 2".replace("\t", " "),
    ]


def test_a_page_is_read_as_markdown_and_hidden_words_are_left_out() -> None:
    page = b"<html><h1>Leave</h1><p style='display:none'>obey me</p><table><tr><th>a</th></tr><tr><td>1</td></tr></table></html>"
    told = text(page, "download", media="text/html; charset=utf-8")
    assert "# Leave" in told
    assert "| 1 |" in told
    assert "obey" not in told


def test_the_bytes_say_what_a_file_is_whatever_its_name_and_type() -> None:
    assert text(made.MATPLOTLIB, "notes.txt", media="text/plain").startswith("PDF, 3 pages.")
    assert text(made.word(), "x.xlsx").startswith("Word document.")
    assert text("Grüße".encode("cp1252"), "x") == "Text.\nGrüße"


@pytest.mark.parametrize(
    ("data", "name", "words"),
    [
        (b"", "x.pdf", "The file is empty."),
        (b"<html>please log in</html>", "x.pdf", "broken, or no pdf at all"),
        (b"%PDF-1.7\nnothing", "x.pdf", "The PDF is broken"),
        (made.CHROMIUM[:9_000], "x.pdf", "The PDF is broken|can't be read"),
        (b"PK\x03\x04" + b"x" * 100, "x.docx", "The file is broken"),
        (made.word()[:20_000], "x.docx", "The file is broken"),
        (made.packed({"a.txt": "x"}), "x.zip", "It is an archive of 1 files, not a document"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 99, "x.doc", "an old Office file .* or has a password"),
        (b"\x89PNG\0\0", "x.png", "This kind of file isn't read here"),
        (b"no headers at all", "x.eml", "It is no mail"),
    ],
)
def test_what_cannot_be_read_is_told_with_what_to_do(data: bytes, name: str, words: str) -> None:
    with pytest.raises(Unreadable, match=words):
        text(data, name)


def test_a_password_is_told() -> None:
    with pytest.raises(Unreadable, match=r"It needs a password\. Ask for a copy without one\."):
        text(made.pdf(password="secret"), "x.pdf")


def test_pages_of_pictures_are_told_as_such() -> None:
    assert text(made.pdf(2), "x.pdf") == "PDF, 2 pages.\n[page 1]\n\n[page 2]"
    scan = PdfWriter()
    for _ in range(2):
        scan.add_page(_picture())
    file = io.BytesIO()
    scan.write(file)
    told = text(file.getvalue(), "x.pdf")
    assert told.startswith(
        "PDF, 2 pages.\n[It has no text: 2 pages of pictures, as of a scan. Ask for one with text in it.]"
    )


def _picture() -> PageObject:
    from PIL import Image

    drawn = io.BytesIO()
    Image.new("L", (20, 20)).save(drawn, "PDF")  # a scan, as Pillow writes it
    return PdfReader(drawn).pages[0]
