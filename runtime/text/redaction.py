"""Patterns of secrets: the forms that vendors give to their keys and tokens. Pure."""

from __future__ import annotations

import re
from typing import Final

HIDDEN: Final = "********"

# Vendors' own pages on their key formats, read 2026-08. Lengths are at the low end, so that none slips through; a
# border before each keeps a longer word from being cut in the middle.
_PREFIXED: Final = (
    r"sk-[A-Za-z0-9_-]{16,}",  # OpenAI, Anthropic, OpenRouter, DeepSeek and others
    r"gh[pousr]_[A-Za-z0-9]{20,}",
    r"github_pat_[A-Za-z0-9_]{20,}",
    r"AIza[A-Za-z0-9_-]{30,}",  # Google
    r"xox[a-z]-[A-Za-z0-9-]{10,}",  # Slack
    r"xapp-[A-Za-z0-9-]{10,}",
)
_TELEGRAM: Final = r"[0-9]{8,10}:[A-Za-z0-9_-]{35}"
_DISCORD: Final = r"[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}"
# Its end may be missing: then the key goes as far as its letters do, also where line ends are written as \n.
_PRIVATE: Final = (
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----(?:[A-Za-z0-9+/=:,\s\\]|-(?!----))*(?:-----END [A-Z ]*PRIVATE KEY-----)?"
)
# Colours of a terminal end with a letter, and are a border too.
_BORDER: Final = r"(?:(?<![A-Za-z0-9_-])|(?<=\x1b\[\dm)|(?<=\x1b\[\d\dm))"
_ANY: Final = re.compile(f"{_BORDER}(?:{'|'.join((*_PREFIXED, _TELEGRAM, _DISCORD))})|{_PRIVATE}")
# Each alone begins with letters that a search finds at once: less than half the time that all together take for a line of
# the log, which seldom holds one.
_EACH: Final = [re.compile(shape) for shape in (*_PREFIXED, _TELEGRAM, _DISCORD, _PRIVATE)]


def hide(text: str) -> str:
    """`text` without what looks like a secret."""
    return _ANY.sub(HIDDEN, text) if _may_hold(text) else text


def _may_hold(text: str) -> bool:
    return any(shape.search(text) for shape in _EACH)
