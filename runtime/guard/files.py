"""Files of a text type, as the guard reads them: which ones they are, how their bytes are letters, and slices of them. Pure."""

from __future__ import annotations

import codecs
import mimetypes
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import PurePath
from typing import Final

from runtime.guard.findings import Finding
from runtime.guard.guard import Checked
from runtime.guard.shapes import PRIVATE_KEY_BEGINS

Check = Callable[[str], Checked]

FILE_MOST_BYTES: Final = 10 << 20
"""Bytes of a file that is read whole."""

SLICE_CHARS: Final = 65_536
OVERLAP_CHARS: Final = 4_096
"""Letters on both sides of a cut, by which it is known that no value lies across it. A private key has about 3,000."""
KEY_MAX_CHARS: Final = 16_384
"""Of the largest private key: 16,384 bits of RSA have 12,700. One that has begun and not ended is never cut."""

TEXT_ENDINGS: Final = frozenset(
    (
        *(".c", ".cc", ".cpp", ".cs", ".css", ".go", ".graphql", ".h", ".hpp", ".java", ".js", ".jsx", ".kt"),
        *(".bat", ".lua", ".php", ".pl", ".ps1", ".py", ".r", ".rb", ".rs", ".sh", ".sql", ".swift", ".ts", ".tsx"),
        *(".cfg", ".conf", ".env", ".hcl", ".ini", ".json", ".jsonl", ".ndjson", ".properties"),
        *(".tf", ".toml", ".xml", ".yaml", ".yml", ".crt", ".key", ".pem"),
        *(".csv", ".diff", ".eml", ".htm", ".html", ".ics", ".ipynb", ".log"),
        *(".md", ".patch", ".rst", ".svg", ".tex", ".tsv", ".txt", ".vcf"),
    )
)
TEXT_MIMES: Final = frozenset(
    [
        "application/json",
        "application/ld+json",
        "application/x-ndjson",
        "application/xml",
        "application/yaml",
        "application/x-yaml",
        "application/toml",
        "application/javascript",
        "application/sql",
        "application/x-sh",
        "application/rtf",
        "image/svg+xml",
    ]
)


def is_text(name: str, mime: str) -> bool:
    """True for what people read as text, by its type or its name; a file without an ending is looked at as well.

    >>> (
    ...     is_text("data.csv", ""),
    ...     is_text("plot.svg", "image/svg+xml"),
    ...     is_text(".env", ""),
    ...     is_text("a.zip", "application/zip"),
    ... )
    (True, True, True, False)
    """
    kind = (mime or mimetypes.guess_type(name)[0] or "").partition(";")[0].strip().lower()
    if kind.startswith("text/") or kind in TEXT_MIMES or kind.endswith(("+json", "+xml", "+yaml")):
        return True
    ending = PurePath(name.lower()).suffix or (name.lower() if name.startswith(".") else "")
    return ending in TEXT_ENDINGS or (not ending and not kind)


def encoding_of(data: bytes) -> str:
    """Encoding of its letters; bytes that are no Unicode are read one by one, so that ASCII in them is found.

    >>> [encoding_of("grün".encode(code)) for code in ("utf-8", "utf-16", "utf-16-be", "latin-1")]
    ['utf-8', 'utf-16', 'utf-16-be', 'latin-1']
    """
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return _if_it_is("utf-16", data)
    odd, even = data[1:4096:2].count(0), data[:4096:2].count(0)  # every other byte of ASCII in UTF-16
    if max(odd, even) * 4 > min(len(data), 4096):
        return _if_it_is("utf-16-le" if odd > even else "utf-16-be", data)
    return _if_it_is("utf-8", data)


def _if_it_is(encoding: str, data: bytes) -> str:
    try:
        data.decode(encoding)
    except UnicodeDecodeError:
        return "latin-1"
    return encoding


@dataclass(frozen=True, slots=True)
class CheckedFile:
    """The bytes that may be sent, None where the file is withheld; and what was found in them."""

    data: bytes | None
    findings: Sequence[Finding] = ()


def checked_file(data: bytes, check: Check, *, slice_chars: int = SLICE_CHARS) -> CheckedFile:
    """A whole file, a slice at a time: what is found never depends on where the slices end."""
    encoding = encoding_of(data)
    text = data.decode(encoding)
    slices = [check(one) for one in slices_of(text, check, slice_chars)]
    findings = tuple(dict.fromkeys(chain.from_iterable(one.findings for one in slices)))
    if any(one.is_withheld for one in slices):
        return CheckedFile(None, findings)
    cleaned = "".join(one.text for one in slices)
    if cleaned == text:
        return CheckedFile(data, findings)
    return CheckedFile(cleaned.encode(encoding, "replace"), findings)


def slices_of(text: str, check: Check, slice_chars: int = SLICE_CHARS) -> Iterator[str]:
    """`text` in slices; a cut is made only where no value lies across it."""
    begin = 0
    while begin < len(text):
        end = _end_of_slice(text, begin, check, slice_chars)
        yield text[begin:end]
        begin = end


def _end_of_slice(text: str, begin: int, check: Check, slice_chars: int) -> int:
    """A cut near `slice_chars` from `begin` on; nearer ones are tried before the slice grows."""
    wanted = begin + slice_chars
    while wanted < len(text):
        for back in range(0, slice_chars // 2, OVERLAP_CHARS):
            line = text.rfind("\n", begin + slice_chars // 4, wanted - back) + 1
            cut = line if line > begin else wanted - back
            if not _is_across(text, cut, check):
                return cut
        wanted += slice_chars
    return len(text)


def _is_across(text: str, cut: int, check: Check) -> bool:
    begun = text.rfind(PRIVATE_KEY_BEGINS, max(0, cut - KEY_MAX_CHARS), cut)
    if begun >= 0 and text.find("-----END ", begun, cut) < 0:
        return True
    left, right = text[max(0, cut - OVERLAP_CHARS) : cut], text[cut : cut + OVERLAP_CHARS]
    whole, halves = check(left + right), (check(left), check(right))
    if whole.is_withheld:
        return not any(half.is_withheld for half in halves)
    return whole.text != "".join(half.text for half in halves)
