"""Webhooks as a source: what other programs post becomes a message to the agent, in the room that the settings name.

`adapter.py` answers the requests. `proof.py` tells whether a sender may, `payload.py` reads what it sent, `keys.py` tells
repeats from news, `parse.py` makes the Signal; `pace.py` bounds how much comes. Nothing is shown from here: answers go to
the room, through the account that the room belongs to.
"""
