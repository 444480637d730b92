"""A long conversation, written into the database of a house that does not run: as if it had been talked through."""

from __future__ import annotations

import json
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Final

ROOM: Final = "longtalk01"
MINUTE: Final = 60_000_000  # microseconds
BEGAN: Final = time.time_ns() // 1_000 - 14 * 24 * 60 * MINUTE
"""A fortnight ago: what is old is removed from a minute after the start on, and a house of tests may live longer."""


def talk(database: Path, turns: int, *, summarised: int = 0, gap: int = MINUTE, since: int = 0) -> None:
    """`turns` turns of the owner and the agent in the room `ROOM`, the first `summarised` behind a summary.

    `since`: turns that were talked already; what was said beside them stays before what is talked now.
    """
    with closing(sqlite3.connect(database)) as raw, raw:
        account = raw.execute("SELECT identity FROM accounts WHERE channel = 'web'").fetchone()[0]
        owner = raw.execute("SELECT id, name FROM people").fetchone()
        address = f"web:{account}/{ROOM}"
        session = f"main|{address}"
        newest = raw.execute("SELECT coalesce(max(number), 0) FROM turns WHERE session = ?", (session,)).fetchone()[0]
        beside = max(0, newest - since)
        for number in range(since // 2 + 1, turns // 2 + 1):
            _exchange(raw, number, address, session, account, owner, BEGAN + number * gap, beside)
        if since:
            return
        said_last, begins = BEGAN + turns // 2 * gap, turns + 1
        about = {"agent": "main", "address": address, "state": "idle", "next_turn": begins, "ready_at": said_last}
        fill(raw, "sessions", key=session, **about)
        if summarised:
            fill(
                raw,
                "summaries",
                session=session,
                upto_turn=summarised,
                since_turn=0,
                kind="model",
                text="**Goal**\n\n- Count sheep, one by one.\n- Mind the `fence`.",
                request="Count sheep.",
                facts="{}",
                model="demo",
                tokens_before=40_000,
                tokens_after=300,
                run_id="",
                at=BEGAN + turns * gap,
            )


def _exchange(
    raw: sqlite3.Connection,
    number: int,
    address: str,
    session: str,
    account: str,
    owner: tuple[str, str],
    at: int,
    beside: int,
) -> None:
    """One message and its answer, with all rows that they leave."""
    run, common = f"run{number:019}", {"address": address, "session": session}
    asked, told = f"Question {number}", f"Answer {number}: " + "a sheep jumps over the fence. " * (1 + number % 4)
    _signal(raw, run, number, asked, at, owner, platform=account, **common)
    fill(raw, "runs", id=run, state="done", started_at=at, ended_at=at, last_turn=2 * number + beside, **common)
    for place, role, text in ((1, "user", asked), (2, "assistant", told)):
        about = {"role": role, "text": text, "author": owner[1] if role == "user" else "", "calls": "[]", "files": "[]"}
        fill(raw, "turns", session=session, number=2 * number - 2 + place + beside, run_id=run, at=at, **about)
    _delivery(raw, run, f"d{number:021}", told, at, account=account, address=address)


def _signal(
    raw: sqlite3.Connection, run: str, number: int, text: str, at: int, owner: tuple[str, str], **common: object
) -> None:
    person, name = owner
    at_once = {"accepted_at": at, "received_at": at, "answered_at": at}
    by = {"actor": f"web:{person}", "actor_name": name, "person_id": person}
    said = {"kind": "said", "urgency": "normal", "text": text, "files": "[]", "dedupe_key": f"k{number}"}
    fill(raw, "signals", id=run, run_id=run, state="consumed", seq=number, **at_once, **by, **said, **common)


def _delivery(raw: sqlite3.Connection, run: str, delivery: str, text: str, at: int, **room: object) -> None:
    """An answer that the page showed a millisecond after it was written."""
    about = {"origin": f"run:{run}", "kind": "final", "content": "{}", "run_id": run, "channel": "web", **room}
    fill(raw, "deliveries", id=delivery, state="shown", created_at=at, settled_at=at, **about)
    body = {"kind": "final", "markdown": text, "html": f"<p>{text}</p>", "buttons": [], "files": []}
    fill(raw, "parts", delivery_id=delivery, ordinal=1, state="shown", body=json.dumps(body), shown_at=at + 1_000)


def fill(raw: sqlite3.Connection, table: str, **given: object) -> None:
    """A row with these values; what is not given is empty, 0 or null."""
    row = {}
    for _, name, kind, required, default, _ in raw.execute(f"PRAGMA table_info({table})"):
        if name in given:
            row[name] = given[name]
        elif required and default is None and name != "number":
            row[name] = 0 if kind in ("BIGINT", "INTEGER") else ""
    raw.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})", list(row.values()))
