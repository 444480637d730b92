"""Slack: Socket Mode or signed HTTP events, with slack-bolt and slack-sdk.

socket.py, sockets.py  Socket Mode: one websocket, and always one that hears
door.py                signed HTTP requests
intake.py              what both hand on, stored before it is acknowledged; parse.py makes Signals of it,
                           with envelope.py, spoken.py and pressed.py
render.py, dialect.py  Delivery to wire messages; posts.py, streams.py and uploads.py put them on screen
settle.py, gaps.py     looks into the history: is it there, and what was missed
"""
