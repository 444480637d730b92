"""The story that a recording holds: written by an old program, gone on with by the newest.

`record.py` plays its begin on an old tree, `test_upgrades.py` its end on this one.
"""

from __future__ import annotations

import json
from typing import Final

TOKEN: Final = "a-token-of-the-tests"
OWNER_LINK: Final = f"/link/{TOKEN}"
ANSWERED, ASKED, RUN_BEFORE = "answered", "askedhere", "approved"
"""Rooms of the page: an answered message; an open question; a question that was approved."""
KNOWN, WAITING, CUT_BEFORE, CUT_AFTER = 11, 12, 13, 14
"""Private chats on Telegram: an answer that was seen; one that waits for its platform; two whose sending was cut."""
SCHEDULE: Final = "every weekday at 9 do list the files"


def words(chat: int) -> str:
    """The line said in a chat; the demo model repeats it in its answer."""
    return f"hello from {chat}"


def settings(telegram: str, token: str, database: str = "") -> str:
    """The settings of both programs; `telegram` is where the fake serves."""
    where = f"database_url = {json.dumps(database)}\n" if database else ""
    return f"""{where}
[web]
token = "{TOKEN}"
[access]
default = "allow"
[run]
approval_hours = 8760
[[accounts]]
name = "tg"
channel = "telegram"
token = "{token}"
api_base_url = "{telegram}"
"""
