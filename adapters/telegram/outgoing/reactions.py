"""Emoji that a bot may put onto messages here: Telegram takes a list of its own, and a chat may take fewer.

Source: core.telegram.org/bots/api#reactiontypeemoji, as python-telegram-bot lists it.
"""

from __future__ import annotations

from typing import Final

from telegram.constants import ReactionEmoji

from runtime.text.emoji import bare

TAKEN_BY_TELEGRAM: Final = frozenset(bare(str(emoji)) for emoji in ReactionEmoji)
SOME: Final = "👍 👎 ❤️ 🔥 🎉 👏 🤔 👀 🙏 👌 💯 🤝"


def refused_emoji(emoji: str) -> str:
    """The reason why a message can't be marked with it, or empty."""
    return "" if bare(emoji) in TAKEN_BY_TELEGRAM else f"Telegram takes no reaction {emoji}. Some that it takes: {SOME}"
