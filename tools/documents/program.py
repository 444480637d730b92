"""Reads one document. `reader` runs it as a separate program, with the document's descriptor.

A process rather than a thread: reading holds the interpreter for seconds, its libraries stay in memory once they were
loaded, and a document may be made so that it takes hours or all memory. A process can be bounded and killed, and gives
its memory back.
"""

from __future__ import annotations

import json
import os
import resource
import sys
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final

if TYPE_CHECKING:
    from tools.documents.kinds import Kind
    from tools.documents.parts import Document

READING_MAX_BYTES: Final = 1 << 30
"""Of addresses; some 60 MB are in use for a usual PDF."""
EXIT_UNREADABLE: Final = 3
"""The document is what it is: what was written says why."""
EXIT_TOO_LARGE: Final = 4
"""It needs more memory than there is."""


def main(request: str) -> int:
    order = json.loads(request)
    bound(order["seconds"])
    sys.stdout.reconfigure(encoding="utf-8", errors="replace")  # type: ignore[union-attr]
    from tools.documents.kinds import kind_of
    from tools.documents.parts import Unreadable, headed, told

    try:
        with os.fdopen(order["descriptor"], "rb") as file:
            kind = kind_of(file, order["name"], order["media"])
            document = read(kind, file)
            text = (
                headed(document, order["name"], order["most"])
                if order["headed"]
                else told(document, order["pages"], order["most"])
            )
            sys.stdout.write(text)
    except Unreadable as error:
        sys.stdout.write(str(error))
        return EXIT_UNREADABLE
    except (MemoryError, RecursionError):
        return EXIT_TOO_LARGE
    return 0


def bound(seconds: int) -> None:
    bounds = {
        resource.RLIMIT_AS: READING_MAX_BYTES,
        resource.RLIMIT_FSIZE: 0,  # it writes no file
        resource.RLIMIT_CORE: 0,
        # Whoever started us kills us in time, unless it was itself killed.
        resource.RLIMIT_CPU: seconds + 1,
    }
    for kind, most in bounds.items():
        hard = resource.getrlimit(kind)[1]
        least = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (least, least))


def read(kind: Kind, file: BinaryIO) -> Document:
    """Each kind loads its own libraries."""
    from tools.documents.kinds import Kind

    match kind:
        case Kind.PDF:
            from tools.documents.forms.pdf import pdf as reading
        case Kind.WORD:
            from tools.documents.forms.office import word as reading
        case Kind.SHEETS:
            from tools.documents.forms.office import sheets as reading
        case Kind.SLIDES:
            from tools.documents.forms.office import slides as reading
        case Kind.BOOK:
            from tools.documents.forms.books import book as reading
        case Kind.TABLE:
            from tools.documents.forms.texts import table as reading
        case Kind.PAGE:
            from tools.documents.forms.texts import page as reading
        case Kind.MAIL:
            from tools.documents.forms.texts import mail as reading
        case Kind.TEXT:
            from tools.documents.forms.texts import text as reading
    return reading(file)


if __name__ == "__main__":
    # Started without the folder it was found in: the end of the path, so that nothing hides the standard library.
    sys.path.append(str(Path(__file__).resolve().parents[2]))
    sys.exit(main(sys.argv[1]))
