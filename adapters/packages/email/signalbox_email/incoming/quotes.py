"""The new words of a mail, apart from the older mail that its program quoted under them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

ATTRIBUTION: Final = re.compile(
    r"(?:On\s.{4,200}\swrote|Am\s.{4,200}\sschrieb(?:\s.{1,120})?|Le\s.{4,200}\sa\sécrit|El\s.{4,200}\sescribió"
    r"|Il\s.{4,200}\sha\sscritto|Op\s.{4,200}\sschreef(?:\s.{1,120})?)\s?:"
)
BRIEF_ATTRIBUTION: Final = re.compile(r".{2,120}\s(?:wrote|schrieb)\s?:")
SEPARATOR: Final = re.compile(
    r"-{2,}\s*(?:Original Message|Ursprüngliche Nachricht|Forwarded message|Weitergeleitete Nachricht|Message d'origine)\s*-{2,}"
    r"|_{20,}",
    re.IGNORECASE,
)
HEAD_LINE: Final = re.compile(r"\*?(?:From|Von|De|Da|Van)\s?:\*?\s.+", re.IGNORECASE)
HEAD_LINE_BELOW: Final = re.compile(
    r"\*?(?:Sent|Date|Gesendet|Datum|Envoyé|Enviado|Inviato|Verzonden|To|An|Subject|Betreff)\s?:", re.IGNORECASE
)
ATTRIBUTION_MOST_LINES: Final = 3
QUOTED_MOST_CHARS: Final = 20_000
"""Of a quote that is kept as context."""


@dataclass(frozen=True, slots=True)
class Words:
    """`new` is what its sender wrote; `quoted` the older mail below it, without its marks."""

    new: str
    quoted: str = ""


def parted(text: str) -> Words:
    """A quote is what stands last. An answer between the lines of a quote stays as it is: it means nothing without them."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if (cut := _separator(lines)) is not None:
        return _words(lines[:cut], lines[cut:])
    end = len(lines)
    while end and (not lines[end - 1].strip() or lines[end - 1].startswith(">")):
        end -= 1
    if not any(line.startswith(">") for line in lines[end:]):
        return _words(lines, [])
    begin = _attributed(lines, end)
    if any(line.startswith(">") for line in lines[:begin]):
        return _words(lines, [])
    return _words(lines[:begin], lines[begin:])


def _separator(lines: list[str]) -> int | None:
    """The line at which an older mail begins that is quoted without marks."""
    for number, line in enumerate(lines):
        if SEPARATOR.fullmatch(line.strip()):
            return number
        below = next((one for one in lines[number + 1 : number + 3] if one.strip()), "")
        if HEAD_LINE.fullmatch(line.strip()) and HEAD_LINE_BELOW.match(below.strip()):
            return number
    return None


def _attributed(lines: list[str], end: int) -> int:
    """Find the begin of the line that tells whose words a quote is; programs break it where it gets long."""
    while end and not lines[end - 1].strip():
        end -= 1
    for count in range(min(ATTRIBUTION_MOST_LINES, end), 0, -1):
        if ATTRIBUTION.fullmatch(" ".join(lines[end - count : end]).strip()):
            return end - count
    return end - 1 if end and BRIEF_ATTRIBUTION.fullmatch(lines[end - 1].strip()) else end


def _words(new: list[str], quoted: list[str]) -> Words:
    return Words(without_signature("\n".join(new)).strip(), _unmarked(quoted)[:QUOTED_MOST_CHARS])


def without_signature(text: str) -> str:
    """Its signature begins at a line of two dashes and a space (RFC 3676)."""
    head, mark, _ = f"\n{text}".partition("\n-- \n")
    return head.removeprefix("\n") if mark and head.strip() else text


def _unmarked(lines: list[str]) -> str:
    return "\n".join(re.sub(r"^>\s?", "", line) for line in lines).strip()
