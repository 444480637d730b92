"""Slack's way of writing text, as Markdown that people and models read."""

from __future__ import annotations

import re
from typing import Final

from adapters.slack.bot_user import BotUser

# <@U1>, <@U1|ada>, <#C1|general>, <!here>, <!subteam^S1|@team>, <!date^1^{date}|today>, <https://x|label>
SPECIAL: Final = re.compile(r"<([^<>\n]*)>")
ESCAPES: Final = (("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"))


def readable(text: str, me: BotUser) -> str:
    """`text` without the mention of ourselves, and with Slack's links and escapes undone."""
    return unescaped(SPECIAL.sub(lambda found: _shown(found[1]), without_me(text, me))).strip()


def names_me(text: str, me: BotUser) -> bool:
    """True if somebody mentions the bot; what is only typed, `@signalbox`, counts at the begin."""
    return bool(_mention(me).search(text)) or bool(_typed(me).match(text))


def without_me(text: str, me: BotUser) -> str:
    """The mention at the begin or the end goes; in the middle of a sentence it is a word of it."""
    text = _typed(me).sub("", text, count=1)
    mention = _mention(me).pattern
    text = re.sub(rf"^\s*(?:{mention}[\s,:]*)+", "", text)
    return re.sub(mention, f"@{me.name}", _without_last(text, me))


def _without_last(text: str, me: BotUser) -> str:
    """`text` without the mentions at its end: one pattern of them all would try each run of blanks from each of its places."""
    end = whole = len(text.rstrip())
    for found in reversed([*_mention(me).finditer(text)]):
        if found.end() != end:
            break
        end = found.start()
        while end and (text[end - 1].isspace() or text[end - 1] == ","):
            end -= 1
    return text[:end] if end < whole else text


def unescaped(text: str) -> str:
    for escape, character in ESCAPES:
        text = text.replace(escape, character)
    return text


def escaped(text: str) -> str:
    """`text` so that Slack reads nothing in it: no mention, no link."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _mention(me: BotUser) -> re.Pattern[str]:
    return re.compile(rf"<@{re.escape(me.user)}(?:\|[^<>]*)?>")


def _typed(me: BotUser) -> re.Pattern[str]:
    # Pictures and letters of any alphabet may come first: "👋 @signalbox hi".
    return re.compile(rf"^(?:\W*)(?<!\w)@{re.escape(me.name)}\b[\s,:]*", re.IGNORECASE)


def _shown(inside: str) -> str:
    target, bar, label = inside.partition("|")
    match target[:1]:
        case "@" | "#":
            return target[0] + label if label else target
        case "!":
            return label or f"@{target[1:].partition('^')[0]}"
        case _ if re.match(r"[a-z][a-z0-9+.-]*:", target):
            return f"[{label}]({target})" if bar and label not in (target, target.removeprefix("mailto:")) else target
        case _:
            return f"<{inside}>"
