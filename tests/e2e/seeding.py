"""A long conversation, written into the database of a house that does not run: as if it had been talked through."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final

ROOM: Final = "longtalk01"
MINUTE: Final = 60_000_000  # microseconds
BEGAN: Final = 1_767_225_600_000_000  # 2026-01-01 00:00 UTC


def talk(database: Path, turns: int, *, summarised: int = 0, gap: int = MINUTE) -> None:
    """`turns` turns of the owner and the agent in the room `ROOM`, the first `summarised` behind a summary."""
    with closing(sqlite3.connect(database)) as raw, raw:
        account = raw.execute("SELECT identity FROM accounts WHERE channel = 'web'").fetchone()[0]
        owner = raw.execute("SELECT id, name FROM people").fetchone()
        address = f"web:{account}/{ROOM}"
        session = f"main|{address}"
        for number in range(1, turns // 2 + 1):
            _exchange(raw, number, address, session, account, owner, BEGAN + number * gap)
        fill(raw, "sessions", key=session, agent="main", address=address, state="idle", next_turn=turns + 1)
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
    raw: sqlite3.Connection, number: int, address: str, session: str, account: str, owner: tuple[str, str], at: int
) -> None:
    run, person, name = f"run{number:019}", *owner
    asked, told = f"Question {number}", f"Answer {number}: " + "a sheep jumps over the fence. " * (1 + number % 4)
    common = {"address": address, "accepted_at": at, "received_at": at, "answered_at": at, "run_id": run}
    fill(
        raw,
        "signals",
        id=run,
        platform=account,
        dedupe_key=f"k{number}",
        kind="said",
        urgency="normal",
        actor=f"web:{person}",
        actor_name=name,
        person_id=person,
        text=asked,
        files="[]",
        state="consumed",
        session=session,
        seq=number,
        **common,
    )
    fill(
        raw,
        "runs",
        id=run,
        session=session,
        address=address,
        state="done",
        started_at=at,
        ended_at=at,
        last_turn=2 * number,
    )
    for place, role, text in ((2 * number - 1, "user", asked), (2 * number, "assistant", told)):
        author = name if role == "user" else ""
        fill(
            raw,
            "turns",
            session=session,
            number=place,
            run_id=run,
            role=role,
            text=text,
            author=author,
            calls="[]",
            at=at,
            files="[]",
        )
    delivery, body = (
        f"d{number:021}",
        {"kind": "final", "markdown": told, "html": f"<p>{told}</p>", "buttons": [], "files": []},
    )
    room = {"channel": "web", "account": account, "address": address}
    fill(
        raw,
        "deliveries",
        id=delivery,
        origin=f"run:{run}",
        kind="final",
        content="{}",
        run_id=run,
        state="shown",
        created_at=at,
        settled_at=at,
        **room,
    )
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
