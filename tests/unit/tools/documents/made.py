"""Documents made by other programs, as bytes: office files by their libraries, mails by Python's own."""

from __future__ import annotations

import io
import zipfile
from email.message import EmailMessage
from pathlib import Path
from typing import Final

import docx
import openpyxl
import pptx
from pptx.util import Inches
from pypdf import PdfWriter

from tools.documents.kinds import kind_of
from tools.documents.parts import told
from tools.documents.program import read

FILES: Final = Path(__file__).parent / "files"
CHROMIUM: Final = (FILES / "chromium.pdf").read_bytes()
"""Printed by Chromium: two pages, with a table."""
MATPLOTLIB: Final = (FILES / "matplotlib.pdf").read_bytes()
"""Drawn by matplotlib: three pages."""
MOST: Final = 20_000


def text(data: bytes, name: str, pages: str = "", *, media: str = "", most: int = MOST) -> str:
    """The text as the process for it makes it, without that process."""
    file = io.BytesIO(data)
    return told(read(kind_of(file, name, media), file), pages, most)


def word() -> bytes:
    document = docx.Document()
    document.add_heading("Handbook", 0)
    document.add_heading("Leave", 2)
    document.add_paragraph("Everybody has thirty days.")
    document.add_paragraph("ask early", style="List Bullet")
    table = document.add_table(2, 3)
    for place, words in enumerate(["Country", "Days", "Since", "Norway", "25", "1988"]):
        table.cell(place // 3, place % 3).text = words
    merged = document.add_table(1, 3)
    merged.cell(0, 0).merge(merged.cell(0, 1)).text = "both"
    merged.cell(0, 2).text = "one"
    return _saved(document)


def workbook(rows: int = 3) -> bytes:
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Sales"
    sheet.append(["region", "total"])
    for number in range(rows):
        sheet.append([f"R{number}", number * 10])
    sheet["C2"] = "=B2*2"
    book.create_sheet("Notes").append(["checked by Ann"])
    return _saved(book)


def presentation() -> bytes:
    show = pptx.Presentation()
    slide = show.slides.add_slide(show.slide_layouts[1])
    slide.shapes.title.text = "Plans"
    slide.placeholders[1].text = "sell more\nsleep more"
    slide.notes_slide.notes_text_frame.text = "smile"
    table = show.slides.add_slide(show.slide_layouts[6]).shapes.add_table(1, 2, 0, 0, Inches(2), Inches(1)).table
    table.cell(0, 0).text, table.cell(0, 1).text = "May", "12"
    return _saved(show)


def mail() -> bytes:
    message = EmailMessage()
    message["From"], message["To"] = "Ann <ann@example.org>", "bob@example.org"
    message["Subject"] = "Prices für May"
    message.set_content("See the table.\n")
    message.add_alternative("<p>See the <b>table</b>.</p>", subtype="html")
    message.add_attachment(b"a,b\n", maintype="text", subtype="csv", filename="prices.csv")
    return message.as_bytes()


def book(
    chapter: str = "<html><body><h1>One</h1><p>It was late.</p></body></html>", href: str = "one.xhtml", **more: str
) -> bytes:
    """An EPUB with two chapters, the second one with a space in its name."""
    container = '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></container>'
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata><dc:title>Nights</dc:title></metadata>'
        f'<manifest><item id="a" href="{href}"/><item id="b" href="part%20two.xhtml"/></manifest>'
        '<spine><itemref idref="a"/><itemref idref="b"/></spine></package>'
    )
    files = {"mimetype": "application/epub+zip", "META-INF/container.xml": container, "OPS/book.opf": package}
    chapters = {"OPS/one.xhtml": chapter, "OPS/part two.xhtml": "<p>Then it was early.</p>"}
    return packed({**files, **chapters, **more})


def packed(files: dict[str, str]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return made.getvalue()


def pdf(pages: int = 1, password: str = "", **more: object) -> bytes:
    """Blank pages by pypdf."""
    writer = PdfWriter(**more)  # type: ignore[arg-type]
    for _ in range(pages):
        writer.add_blank_page(100, 100)
    if password:
        writer.encrypt(password)
    return _written(writer)


def many_pages(count: int) -> bytes:
    """A PDF of so many blank pages, written by hand since that is quick."""
    kids = " ".join(f"{number} 0 R" for number in range(3, count + 3))
    objects = ["<</Type/Catalog/Pages 2 0 R>>", f"<</Type/Pages/Count {count}/Kids[{kids}]>>"]
    objects += ["<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>"] * count
    body, places = "%PDF-1.4\n", list[str]()
    chunks = [body]
    at = len(body)
    for number, content in enumerate(objects, 1):
        chunks.append(f"{number} 0 obj\n{content}\nendobj\n")
        places.append(f"{at:010} 00000 n \n")
        at += len(chunks[-1])
    size = len(objects) + 1
    end = f"trailer<</Size {size}/Root 1 0 R>>\nstartxref\n{at}\n%%EOF"
    return "".join([*chunks, f"xref\n0 {size}\n0000000000 65535 f \n", *places, end]).encode()


def _written(writer: PdfWriter) -> bytes:
    made = io.BytesIO()
    writer.write(made)
    return made.getvalue()


def _saved(document: object) -> bytes:
    made = io.BytesIO()
    document.save(made)  # type: ignore[attr-defined]
    return made.getvalue()


WORD: Final = word()
SHEETS: Final = workbook()
SLIDES: Final = presentation()
