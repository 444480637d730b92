"""The slice of the settings that one Slack workspace needs."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta


@dataclass(frozen=True, slots=True)
class Pace:
    """Time limits and waits of the account. Tests shorten them.

    `silent`: a socket on which nothing came for so long, though it was asked by two pings, is replaced; `quiet`: and one on
    which no event came, since one can answer pings and be deaf. `pong`: how long a ping may be unanswered while Slack answers
    calls. `store`: how long the store may take to answer, where it did not take an event.
    `home`: time between two looks at the homes that people opened lately, where no event tells of a change.
    `shares`: how long to look for the message of an upload before it counts as uncertain.
    """

    hello: timedelta = timedelta(seconds=10)
    ping: timedelta = timedelta(seconds=5)
    silent: timedelta = timedelta(seconds=14)
    quiet: timedelta = timedelta(minutes=15)
    pong: timedelta = timedelta(seconds=2)
    store: timedelta = timedelta(seconds=1)
    again_first: timedelta = timedelta(seconds=1)
    again_most: timedelta = timedelta(seconds=60)
    refused: timedelta = timedelta(seconds=20)
    retire: timedelta = timedelta(seconds=5)
    token_check: timedelta = timedelta(minutes=5)
    shares: timedelta = timedelta(seconds=4)
    name: timedelta = timedelta(seconds=0.5)
    name_again: timedelta = timedelta(minutes=1)
    home: timedelta = timedelta(seconds=60)


@dataclass(frozen=True, slots=True)
class SlackSettings:
    """`account` is its name in the settings. `mode` is "socket" (needs `app_token`) or "http" (needs `signing_secret`).

    `api_base_url` is another server that speaks as Slack's Web API does, such as `http://127.0.0.1:8081/api/`.
    """

    account: str
    bot_token: str = field(repr=False)
    app_token: str = field(default="", repr=False)
    signing_secret: str = field(default="", repr=False)
    mode: str = "socket"
    api_base_url: str = ""
    pace: Pace = Pace()
