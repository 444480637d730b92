"""Slack: Socket Mode or signed HTTP events, with slack-bolt and slack-sdk.

`adapter.py` is the account. `incoming/` takes events in (`socket_mode.py` or `http_events.py`, then `intake.py`, stored
before they are acknowledged) and reads what was missed (`backfill.py`); `parse.py` makes Signals of them. `outgoing/` writes
(`render.py`), sends (`send.py`) and finds out what became of a message whose answer was lost (`settle.py`).
"""
