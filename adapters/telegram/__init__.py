"""Telegram as a channel: a bot in private chats, groups, supergroups and their topics, by python-telegram-bot.

`adapter.py` is the account. `incoming/` has the two ways in (`polling.py`, `webhook.py`), `parse.py` reads what comes.
`outgoing/` writes (`render.py`) and sends (`send.py`); `settling/` finds out what became of a message whose answer was lost.
"""
