"""Files of office programs. Their libraries are an extra."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO, Final
from zipfile import BadZipFile

from tools.documents.archives import opened, without_declarations
from tools.documents.parts import BROKEN_FILE, Document, Part, Unreadable, pieces, row_of

if TYPE_CHECKING:
    from docx.table import Table

EXTRA_MISSING: Final = (
    'It needs an extra that isn\'t installed here. Tell an operator: pip install "signalbox-bot[docs]"'
)
CELLS_MAX: Final = 300_000
"""Cells that are read of a workbook: some ten seconds."""
EMPTY_ROWS_MAX: Final = 1_000
"""Empty rows in a row after which a sheet is over, wherever it says that it ends."""


def _checked(file: BinaryIO) -> None:
    """Errors: Unreadable for an archive that may not be unpacked."""
    without_declarations(opened(file))
    file.seek(0)


# -------------------------------------------------------------------------------------------------------------- Word


def word(file: BinaryIO) -> Document:
    _checked(file)
    try:
        import docx
    except ImportError as error:
        raise Unreadable(EXTRA_MISSING) from error
    try:
        return Document.of("Word document", pieces(_blocks(docx.Document(file))))
    except (KeyError, ValueError, AttributeError, BadZipFile, SyntaxError) as error:  # lxml's errors are SyntaxErrors
        raise Unreadable(BROKEN_FILE) from error


def _blocks(document: Any) -> Iterator[str]:
    for block in document.iter_inner_content():
        if hasattr(block, "rows"):
            yield from _rows(block)
        elif block.text.strip():
            yield f"{_before(block.style.name if block.style else '')}{block.text}"


def _before(style: str | None) -> str:
    """The mark of Markdown for a paragraph of a style.

    >>> _before("Heading 2"), _before("List Bullet"), _before("Normal")
    ('## ', '- ', '')
    """
    name, _, level = (style or "").rpartition(" ")
    if name == "Heading" and level.isdecimal():
        return f"{'#' * min(int(level), 6)} "
    return "# " if style == "Title" else "- " if (style or "").startswith("List") else ""


def _rows(table: Table) -> Iterator[str]:
    for row in table.rows:
        cells, last = list[str](), None
        for cell in row.cells:  # a merged one is there once for each of its columns
            if cell._tc is not last:
                cells.append(cell.text)
            last = cell._tc
        yield row_of(cells)


# ------------------------------------------------------------------------------------------------------------- Excel


def sheets(file: BinaryIO) -> Document:
    _checked(file)
    try:
        import openpyxl
    except ImportError as error:
        raise Unreadable(EXTRA_MISSING) from error
    try:
        values = openpyxl.load_workbook(file, read_only=True, data_only=True)
        formulas = openpyxl.load_workbook(file, read_only=True)
        reading = _Sheets()
        parts = [part for name in values.sheetnames for part in reading.parts(name, values[name], formulas[name])]
    except (KeyError, ValueError, TypeError, AttributeError, IndexError, BadZipFile, SyntaxError) as error:
        raise Unreadable(BROKEN_FILE) from error
    about = f" Sheets: {', '.join(values.sheetnames)}."
    missed = f"Only the first {CELLS_MAX:,} cells are read." if reading.left <= 0 else ""
    return Document.of("Excel workbook", parts, about=about, missed=missed)


class _Sheets:
    """Reads sheets as far as cells are `left`."""

    def __init__(self) -> None:
        self.left = CELLS_MAX

    def parts(self, name: str, values: Any, formulas: Any) -> list[Part]:
        rows = self._rows(values, formulas) if hasattr(values, "iter_rows") else iter(())
        return pieces(rows, f"sheet {name}")

    def _rows(self, values: Any, formulas: Any) -> Iterator[str]:
        empty = 0
        pairs = zip(values.iter_rows(values_only=True), formulas.iter_rows(values_only=True), strict=False)
        for number, (shown, written) in enumerate(pairs, 1):
            self.left -= max(len(shown), 1)
            if self.left <= 0 or empty > EMPTY_ROWS_MAX:
                return
            row = row_of(_cells(shown, written))
            empty = 0 if row else empty + 1
            if row:
                yield f"{number}: {row}"


def _cells(shown: Sequence[object], written: Sequence[object]) -> Iterator[object]:
    """Values; of a formula that no program has worked out yet the formula."""
    for at, value in enumerate(shown):
        formula = written[at] if value is None and at < len(written) else None
        yield formula if isinstance(formula, str) and formula.startswith("=") else value


# -------------------------------------------------------------------------------------------------------- PowerPoint


def slides(file: BinaryIO) -> Document:
    _checked(file)
    try:
        import pptx
    except ImportError as error:
        raise Unreadable(EXTRA_MISSING) from error
    try:
        found = list(pptx.Presentation(file).slides)
        parts = [_slide(number, slide) for number, slide in enumerate(found, 1)]
    except (KeyError, ValueError, AttributeError, BadZipFile, SyntaxError) as error:
        raise Unreadable(BROKEN_FILE) from error
    return Document("Presentation", "slide", len(parts), parts.__getitem__)


def _slide(number: int, slide: Any) -> Part:
    said = list(_said(slide.shapes))
    pictures = any(shape.shape_type == PICTURE for shape in slide.shapes)
    notes = slide.notes_slide.notes_text_frame.text.strip() if _has_notes(slide) else ""
    return Part(f"slide {number}", "\n".join([*said, *([f"Notes: {notes}"] if notes else [])]), pictures)


PICTURE: Final = 13
"""`MSO_SHAPE_TYPE.PICTURE`."""


def _has_notes(slide: Any) -> bool:
    return bool(slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None)


def _said(shapes: Any) -> Iterator[str]:
    title = getattr(shapes, "title", None)
    for shape in shapes:
        if hasattr(shape, "shapes"):  # a group
            yield from _said(shape.shapes)
        elif getattr(shape, "has_table", False):
            yield from (row_of(cell.text for cell in row.cells) for row in shape.table.rows)
        elif shape.has_text_frame and (text := shape.text_frame.text.strip()):
            is_title = title is not None and shape.shape_id == title.shape_id
            yield f"# {text}" if is_title else text.replace("\v", "\n")
