"""Telegram as a channel: a bot in private chats, groups, supergroups and their topics, by python-telegram-bot.

`adapter.py` is the account. `polling.py` and `hook.py` are the two ways in, `parse.py` reads what comes; `render.py`
writes what goes, `sending.py` sends it, `settle.py` finds out what became of a message whose answer was lost.
"""
