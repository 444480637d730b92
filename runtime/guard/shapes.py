"""Shapes of secrets: the forms that vendors give to their keys and tokens. Pure.

Vendors' own pages on their key formats, read 2026-08 and 2026-11. Lengths are at the low end, so that none slips through.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from runtime.guard.findings import Detector, Found

# A border keeps a longer word from being cut in the middle. Colours of a terminal end with a letter, and are one
# too, and so are escapes of JSON and of addresses.
BORDER: Final = (
    r"(?:(?<![A-Za-z0-9_-])|(?<=\x1b\[\dm)|(?<=\x1b\[\d\dm)|(?<=\\[bfnrt])|(?<=\\u[0-9a-f]{4})|(?<=%[0-9A-Fa-f]{2}))"
)


Anchor = str | re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Shape:
    """One of `anchors`, letters or a pattern that begins with one, stands in each text that `pattern` fits.

    Where the pattern has a group, that is the secret.
    """

    name: str
    anchors: tuple[Anchor, ...]
    pattern: re.Pattern[str]

    def found(self, text: str) -> Iterator[Found]:
        group = self.pattern.groups
        for match in self.pattern.finditer(text):
            yield Found(Detector.SHAPE, self.name, *match.span(group))


def _word(name: str, pattern: str, *anchors: Anchor) -> Shape:
    return Shape(name, anchors, re.compile(BORDER + pattern))


def _within(name: str, pattern: str, *anchors: Anchor) -> Shape:
    return Shape(name, anchors, re.compile(pattern))


PRIVATE_KEY_BEGINS: Final = "-----BEGIN "
PRIVATE_KEY_ENDS: Final = "-----END "
PRIVATE_KEY: Final = _within(
    "private key",
    # Its end may be missing: then the key goes as far as its letters do, also where line ends are written as \n.
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----(?:[A-Za-z0-9+/=:,\s\\]|-(?!----))*(?:-----END [A-Z ]*PRIVATE KEY-----)?",
    "PRIVATE KEY-----",
)
"""The only shape with blanks in it."""

SET_TO: Final = r"[\"']?\s{0,3}[:=]\s{0,3}[\"']?"
"""Between a name and its value, in a file of settings or in JSON."""

SHAPES: Final = (
    _within("Stripe key", r"[sr]k_(?:live|test)_[A-Za-z0-9]{16,}", re.compile("k_(?:live|test)_")),
    _within("Stripe webhook secret", r"whsec_[A-Za-z0-9+/=]{24,}", "whsec_"),
    _within("API key", r"sk-(?:proj|ant|or|svcacct|admin)-[A-Za-z0-9_-]{16,}", "sk-"),  # OpenAI, Anthropic, OpenRouter
    _word("API key", r"sk-[A-Za-z0-9_-]{16,}", "sk-"),  # older ones, DeepSeek and others: "task-…" holds no key
    _within("GitHub token", r"gh[pousr]_[A-Za-z0-9]{20,}", re.compile("gh[pousr]_")),
    _within("GitHub token", r"github_pat_[A-Za-z0-9_]{20,}", "github_pat_"),
    _within("GitLab token", r"gl(?:pat|dt|rt|cbt|ptt|ft)-[A-Za-z0-9_.-]{20,}", re.compile("gl[a-z]{2,3}-")),
    _within("Google API key", r"AIza[A-Za-z0-9_-]{30,}", "AIza"),
    _within("Google access token", r"ya29\.[A-Za-z0-9_.-]{20,}", "ya29."),
    _within("Google client secret", r"GOCSPX-[A-Za-z0-9_-]{20,}", "GOCSPX-"),
    _within("Slack token", r"xox[a-z]-[A-Za-z0-9-]{10,}", "xox"),
    _within("Slack token", r"xapp-[A-Za-z0-9-]{10,}", "xapp-"),
    _within("Slack webhook", r"hooks\.slack\.com/(?:services|workflows)/([A-Za-z0-9_/-]{20,})", "hooks.slack.com/"),
    _within(
        "Telegram token", r"(?<![0-9])[0-9]{8,10}:[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])", re.compile(":[A-Za-z0-9_-]{35}")
    ),
    _within(
        "Discord token",
        r"[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}",
        re.compile(r"\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27}"),
    ),
    _within("Discord webhook", r"discord(?:app)?\.com/api/webhooks/[0-9]+/([A-Za-z0-9_-]{30,})", "/api/webhooks/"),
    _within(
        "AWS access key", r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}(?![A-Z0-9])", re.compile("A[BCKS][CI]A[A-Z2-7]{16}")
    ),
    _within(
        "AWS secret key",
        rf"(?i:secret_?access_?key){SET_TO}([A-Za-z0-9/+]{{40}})(?![A-Za-z0-9/+=])",
        re.compile("ecret_?[Aa]ccess_?[Kk]ey"),
        "ECRET_ACCESS_KEY",
    ),
    _within(
        "AWS session token",
        rf"(?i:session_?token){SET_TO}([A-Za-z0-9/+=]{{100,}})",
        re.compile("ession_?[Tt]oken"),
        "ESSION_TOKEN",
    ),
    _within("Azure account key", r"(?:Account|SharedAccess)Key=([A-Za-z0-9+/]{40,}={0,2})", "Key="),
    _within("Azure signature", r"[?&;]sig=([A-Za-z0-9%+/_-]{40,})", "sig="),
    _within("Azure client secret", r"[A-Za-z0-9_~.-]{3}[78]Q~[A-Za-z0-9_~.-]{31,34}", "Q~"),
    _within("npm token", r"npm_[A-Za-z0-9]{30,}", "npm_"),
    _within("PyPI token", r"pypi-[A-Za-z0-9_-]{40,}", "pypi-"),
    _within("Hugging Face token", r"hf_[A-Za-z0-9]{30,}", "hf_"),
    _within("SendGrid key", r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}", "SG."),
    _within("DigitalOcean token", r"do[opr]_v1_[a-f0-9]{64}", "_v1_"),
    _within(
        "JSON web token",
        # From the first `eyJ` of a run of letters on: from another one it ends no further, and to try each takes for ever.
        r"(?<![A-Za-z0-9_-])(?>[A-Za-z0-9_-]*?(?=eyJ))(eyJ[A-Za-z0-9_-]{10,}+\.eyJ[A-Za-z0-9_-]{10,}+\.[A-Za-z0-9_-]{10,})",
        ".eyJ",
    ),
    _within(
        "password in an address",
        r"://[^\s:/?#@\[\]\"'<>]*:([^\s:/?#@\[\]\"'<>]{3,})@",
        re.compile(r"://[^\s/@]{4,}@"),
    ),
)
"""Shapes without blanks: each stands in one word of a text, of `SHORTEST_WORD` characters and more."""

SHORTEST_WORD: Final = 14


def long_words_of(text: str) -> str:
    """Words that are long enough to be secrets, a line each: nearly all secrets stand in one, and most words are short."""
    return "\n".join([word for word in text.split() if len(word) >= SHORTEST_WORD])


LETTERS_IN: Final = [(one, shape) for shape in SHAPES for one in shape.anchors if isinstance(one, str)]
PATTERNS_IN: Final = [(one, shape) for shape in SHAPES for one in shape.anchors if isinstance(one, re.Pattern)]


def shapes_in(text: str, long_words: str) -> Iterator[Found]:
    """`long_words` are the words of `text` that are long enough to be secrets."""
    if PRIVATE_KEY_BEGINS in text:
        yield from PRIVATE_KEY.found(text)
    likely = [shape for letters, shape in LETTERS_IN if letters in long_words]
    likely += [shape for pattern, shape in PATTERNS_IN if pattern.search(long_words)]
    for shape in dict.fromkeys(likely):
        yield from shape.found(text)
