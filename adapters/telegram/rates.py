"""Telegram's rate limits: some 30 messages a second in all, 1 a second in a chat, 20 a minute in a group.

Source: core.telegram.org/bots/faq, "My bot is hitting limits", read 2026-11. Burst and refill of a bucket together stay
within the limit in any window of that length.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from runtime.contract import Bucket

ACCOUNT_BUCKET: Final = Bucket("all", burst=10, every=timedelta(seconds=0.05))
IN_A_CHAT: Final = (3, timedelta(seconds=1))
IN_A_GROUP: Final = (5, timedelta(seconds=4))


def buckets(room: str) -> tuple[Bucket, ...]:
    chat = Bucket(f"chat {room}", *IN_A_CHAT)
    return (
        (ACCOUNT_BUCKET, chat, Bucket(f"group {room}", *IN_A_GROUP)) if room.startswith("-") else (ACCOUNT_BUCKET, chat)
    )
