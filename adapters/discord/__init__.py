"""Discord: one bot, by discord.py.

`adapter.py` is the account. `incoming/` holds the gateway's connections, takes events in and reads what was missed;
`parse.py` makes Signals of them. `outgoing/` writes and sends; `settle.py` finds out what became of a message whose answer
was lost.
"""
