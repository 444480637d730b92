"""The web page as a channel: conversations, live progress, approval cards and files, for a browser.

The page (`page/`) talks to the JSON API (`api.py`, `events.py`, `transfer.py`), every request past `runtime.http.guard`.
"""
