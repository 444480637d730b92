"""Characters without a width that a text needs: joiners inside listed emoji and between letters of some scripts, and the
tags of three flags. Anywhere else they hide something.

Source: Unicode 16, emoji-zwj-sequences.txt and emoji-sequences.txt; UAX #31, 2.3 "Layout and Format Control Characters".
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

ZWNJ: Final = "\u200c"
ZWJ: Final = "\u200d"
SKIN: Final = "[\U0001f3fb-\U0001f3ff]?"
ADULT: Final = "[👨👩🧑]"
ROLES: Final = "[🌾🍳🍼🎓🎤🎨🏫🏭💻💼🔧🔬🚀🚒🎄]|[⚕⚖✈]\ufe0f"
ON_THE_WAY: Final = f"(?:{ZWJ}➡\ufe0f)?"
"""A person who faces right."""
DOING: Final = "[👮👯👰👱👳👷💁💂💆💇🙅🙆🙇🙋🙍🙎🚣🚴🚵🤦🤵🤷🤸🤹🤼🤽🤾🦸🦹🧏🧔🧖🧗🧘🧙🧚🧛🧜🧝🧞🧟🏄🏊]"
JOINER_SEQUENCES: Final = re.compile(
    "|".join(
        (
            f"{ADULT}{SKIN}{ZWJ}(?:{ROLES}|[🦰🦱🦲🦳])",
            f"{ADULT}{SKIN}{ZWJ}[🦯🦼🦽]{ON_THE_WAY}",
            f"{DOING}{SKIN}{ZWJ}[♀♂]\ufe0f",
            f"[🏃🚶🧎]{SKIN}(?:{ZWJ}[♀♂]\ufe0f)?{ON_THE_WAY}",
            f"[🏋🏌🕵⛹](?:\ufe0f|{SKIN}){ZWJ}[♀♂]\ufe0f",
            f"{ADULT}{SKIN}{ZWJ}❤\ufe0f{ZWJ}(?:💋{ZWJ})?{ADULT}{SKIN}",
            f"{ADULT}{SKIN}{ZWJ}🤝{ZWJ}{ADULT}{SKIN}",
            f"🫱[\U0001f3fb-\U0001f3ff]{ZWJ}🫲[\U0001f3fb-\U0001f3ff]",
            f"(?:[👨👩]{ZWJ})?[👨👩]{ZWJ}[👦👧](?:{ZWJ}[👦👧])?",
            f"(?:🧑{ZWJ})?🧑{ZWJ}🧒(?:{ZWJ}🧒)?",
            f"🏳\ufe0f{ZWJ}(?:🌈|⚧\ufe0f)",
            f"🏴{ZWJ}☠\ufe0f",
            "🏴\U000e0067\U000e0062(?:\U000e0065\U000e006e\U000e0067|\U000e0073\U000e0063\U000e0074|\U000e0077\U000e006c\U000e0073)\U000e007f",
            f"❤\ufe0f{ZWJ}[🔥🩹]",
            f"[🐈🐦]{ZWJ}⬛",
            f"🐕{ZWJ}🦺",
            f"🐦{ZWJ}🔥",
            f"🐻{ZWJ}❄\ufe0f",
            f"👁\ufe0f{ZWJ}🗨\ufe0f",
            f"😮{ZWJ}💨",
            f"😵{ZWJ}💫",
            f"😶{ZWJ}🌫\ufe0f",
            f"🙂{ZWJ}[↔↕]\ufe0f",
            f"🍋{ZWJ}🟩",
            f"🍄{ZWJ}🟫",
            f"⛓\ufe0f{ZWJ}💥",
        )
    )
)
"""Emoji that are several joined."""
NEEDED_BY: Final = frozenset(
    (
        *("ARABIC", "SYRIAC", "NKO", "MONGOLIAN", "DEVANAGARI", "BENGALI", "GURMUKHI", "GUJARATI", "ORIYA", "TAMIL"),
        *("TELUGU", "KANNADA", "MALAYALAM", "SINHALA", "KHMER", "MYANMAR", "TIBETAN"),
    )
)
"""Scripts whose letters take another shape beside a joiner, by the first word of the letters' names."""
MAY_BE: Final = re.compile("[\u200c\u200d\U000e0067]")


def needed(text: str) -> frozenset[int]:
    """Places of the joiners and tags in `text` that stand where they belong."""
    return frozenset(_places(text)) if MAY_BE.search(text) else frozenset()


def _places(text: str) -> Iterator[int]:
    for emoji in JOINER_SEQUENCES.finditer(text):
        yield from (at for at in range(*emoji.span()) if text[at] == ZWJ or text[at] >= "\U000e0000")
    for at in (found.start() for found in re.finditer(f"[{ZWNJ}{ZWJ}]", text)):
        if 0 < at < len(text) - 1 and (script := _script(text[at - 1])) and script == _script(text[at + 1]):
            yield at


@lru_cache(maxsize=1024)
def _script(letter: str) -> str:
    """The script of a letter or mark, where that needs joiners; else empty."""
    if unicodedata.category(letter)[0] not in "LM":
        return ""
    first = unicodedata.name(letter, "").split(" ")[0]
    return first if first in NEEDED_BY else ""
