"""Rows in the database of a running house, written as if they had come the usual way."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from adapters.web.render import render
from runtime.contract import Address, Content, Delivery, DeliveryId, Kind
from runtime.workspace.workspaces import WorkspaceFolders
from tests.e2e.seeding import fill

AT: Final = 1_767_225_600_000_000  # microseconds: 2026-01-01 00:00 UTC
LATER: Final = 4_000_000_000_000_000
"""Microseconds: no test lives to see it. Lists have the newest first, and some no more than a hundred."""


@dataclass(frozen=True)
class Ground:
    """The database, the page's account in it, its owner, and the files of conversations."""

    raw: sqlite3.Connection
    account: str
    owner: str
    workspaces: WorkspaceFolders

    def address(self, room: str) -> str:
        return f"web:{self.account}/{room}"

    def add(self, table: str, **given: object) -> None:
        fill(self.raw, table, **given)

    def session(self, room: str) -> str:
        key = f"main|{self.address(room)}"
        self.add(
            "sessions", key=key, agent="main", address=self.address(room), state="idle", created_at=AT, ready_at=AT
        )
        return key

    def signal(self, room: str, number: int, text: str = "hello", **given: object) -> None:
        common = {"kind": "said", "urgency": "normal", "state": "consumed", "trigger": "message", "files": "[]"}
        times = dict.fromkeys(("received_at", "accepted_at", "answered_at"), AT + number)
        self.add(
            "signals",
            **{
                "id": f"s{number:021}",
                "platform": self.account,
                "dedupe_key": f"k{number}",
                "text": text,
                "actor": f"web:{self.owner}",
                "actor_name": "owner",
                "person_id": self.owner,
                "address": self.address(room),
                "session": f"main|{self.address(room)}",
                "run_id": f"r{number:021}",
                "seq": number,
                **common,
                **times,
                **given,
            },
        )

    def run(self, room: str, number: int, **given: object) -> None:
        room = self.address(room)
        common = {"state": "failed", "requester": self.owner, "trigger": "message", "session": f"main|{room}"}
        self.add(
            "runs",
            **{
                "id": f"r{number:021}",
                "address": room,
                "started_at": LATER + number,
                "ended_at": LATER + number,
                **common,
                **given,
            },
        )

    def shown(self, room: str, number: int, content: Content, kind: Kind = Kind.FINAL, **given: object) -> None:
        """A delivery as it is on the page: its HTML is made by the product."""
        key = DeliveryId(f"d{number:021}")
        delivery = Delivery(key, f"run:r{number:021}", 0, kind, Address("web", self.account, room), content)
        self.add(
            "deliveries",
            **{
                "id": key,
                "origin": delivery.origin,
                "kind": kind,
                "channel": "web",
                "account": self.account,
                "address": self.address(room),
                "content": json.dumps({"text": content.text, "buttons": [], "files": []}),
                "state": "shown",
                "created_at": AT + number,
                "settled_at": AT + number,
                "run_id": f"r{number:021}",
                **given,
            },
        )
        wire = render(delivery)
        place = {"delivery_id": key, "ordinal": 1, "state": "shown", "shown_at": AT + number, "more": "[]"}
        self.add("parts", **place, body=wire.body, fallback=wire.fallback)

    def approval(self, number: int, **given: object) -> None:
        room = self.address("settled001")
        common = {
            "kind": "call",
            "state": "denied",
            "tool": "shell",
            "effect": "danger",
            "arguments": '{"command": "ls"}',
        }
        card = json.dumps({"call": "`ls`", "of": "0" * 64, "offers": [], "form": ""})
        self.add(
            "approvals",
            **{
                "id": f"a{number:021}",
                "run_id": f"r{number:021}",
                "session": f"main|{room}",
                "address": room,
                "arguments_hash": "0" * 64,
                "asked_at": LATER + number,
                "expires_at": LATER,
                "decided_at": LATER,
                "decided_by": self.owner,
                "decided_name": "owner",
                "choice": "deny",
                "card": card,
                "calls": 1,
                "requester": self.owner,
                "requester_name": "owner",
                **common,
                **given,
            },
        )


def ground_of(database: Path, workspaces: WorkspaceFolders) -> Ground:
    raw = sqlite3.connect(database, timeout=30)
    raw.row_factory = sqlite3.Row
    account = raw.execute("SELECT identity FROM accounts WHERE channel = 'web'").fetchone()[0]
    owner = raw.execute("SELECT id FROM people WHERE name = 'owner'").fetchone()[0]
    return Ground(raw, account, owner, workspaces)
