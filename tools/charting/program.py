"""Draws one chart. `renderer` runs it as a separate program, with the descriptors of its order and of its picture.

A process rather than a thread: drawing holds the interpreter for a second, matplotlib stays in memory once it was
loaded (some 70 MB, nearly what the whole server has idle), and a font or a text that hangs or kills a drawing library
hangs or kills nobody else. A process can be bounded and killed.
"""

from __future__ import annotations

import json
import os
import resource
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tools.charting.order import Order

MEMORY_MAX_BYTES: Final = 1 << 30  # bytes of addresses; some 85 MB are in use at the peak of a small chart
FILE_MAX_BYTES: Final = 16 << 20  # bytes of any file written
LIGHT: Final = 280_000  # bytes of a picture that needs no fewer colours


def main(order: int, picture: int, seconds: int) -> None:
    """Draw what descriptor `order` says into descriptor `picture`, and say on one line what could not be drawn."""
    _bound(seconds)
    from tools.charting.order import read

    with os.fdopen(order, encoding="utf-8") as file:
        png, missing = drawn(read(file.read()))
    with os.fdopen(picture, "wb") as file:
        file.write(png)
    sys.stdout.write(json.dumps({"missing": missing}) + "\n")


def _bound(seconds: int) -> None:
    bounds = {
        resource.RLIMIT_AS: MEMORY_MAX_BYTES,
        resource.RLIMIT_FSIZE: FILE_MAX_BYTES,
        resource.RLIMIT_CORE: 0,
        # Whoever started us kills us in time, unless it was itself killed.
        resource.RLIMIT_CPU: seconds + 1,
    }
    for kind, bound in bounds.items():
        hard = resource.getrlimit(kind)[1]
        least = bound if hard == resource.RLIM_INFINITY else min(bound, hard)
        resource.setrlimit(kind, (least, least))


def drawn(order: Order) -> tuple[bytes, str]:
    """The picture, and some letters that no font of this machine has."""
    from tools.charting.fonts import chosen, letters
    from tools.charting.letters import drawable, is_picture, wanting

    texts = [order.title, order.unit, *order.labels, *(series.name for series in order.series)]
    families, glyphs = chosen(wanting(texts, ()))
    missing = {point for point in wanting(texts, glyphs) if not is_picture(chr(point))}
    shown = replace(
        order,
        title=drawable(order.title, glyphs),
        unit=drawable(order.unit, glyphs) if order.unit else "",
        labels=tuple(drawable(label, glyphs) for label in order.labels),
        series=tuple(replace(each, name=drawable(each.name, glyphs)) for each in order.series),
    )
    return _png(shown, families), letters(missing)


def _png(order: Order, families: tuple[str, ...]) -> bytes:
    from io import BytesIO

    from PIL import Image

    from tools.charting.kinds.bars import bar_chart
    from tools.charting.kinds.lines import line_chart
    from tools.charting.kinds.pies import pie_chart

    draw = {"line": line_chart, "bar": bar_chart, "pie": pie_chart}[order.kind]
    page = draw(order, families)
    size = page.canvas.get_width_height(physical=True)
    picture = Image.frombytes("RGBA", size, page.pixels()).convert("RGB")
    for colours in (None, 256, 64):
        file = BytesIO()
        made = picture if colours is None else picture.quantize(colours, dither=Image.Dither.NONE)
        made.save(file, "PNG")
        if file.tell() <= LIGHT:
            break
    return file.getvalue()


if __name__ == "__main__":
    # Started without the folder it was found in: the end of the path, so that nothing hides the standard library.
    sys.path.append(str(Path(__file__).resolve().parents[2]))
    main(*map(int, sys.argv[1:4]))
