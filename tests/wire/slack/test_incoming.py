"""Payloads as Slack sends them, cleaned, and beside each in words what becomes of it: golden/incoming/."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import pytest

from adapters.slack.bot_user import BotUser
from adapters.slack.envelope import Happening, Sender, sender_id
from adapters.slack.parse import parse
from runtime.contract import Signal
from tests.golden import same_as

HERE: Final = Path(__file__).parent / "golden" / "incoming"
ME: Final = BotUser("T1", "U0BOT", "B0BOT", "signalbox")
NAMES: Final = {"U1": "Ada", "U2": "Bob"}
NOW: Final = datetime(2026, 11, 22, 12, tzinfo=UTC)
PAYLOADS: Final = sorted(HERE.glob("*.json"))


def described(signal: Signal | None) -> str:
    if signal is None:
        return "nothing: it is nobody's words to us"
    lines = {
        "says": repr(signal.body),
        "by": f"{signal.actor_name} ({signal.actor})" + (", a program" if signal.by_bot else ""),
        "at": str(signal.address),
        "reach": f"{signal.reach}" + (", may be joined" if signal.joinable else ""),
        "keys": ", ".join(filter(None, [signal.dedupe_key, signal.natural_key])),
        "message": signal.message_id or "none",
    }
    return "\n".join(f"{name:<8} {text}" for name, text in lines.items())


@pytest.mark.parametrize("path", PAYLOADS, ids=[path.stem for path in PAYLOADS])
def test_what_becomes_of_it(path: Path) -> None:
    body = json.loads(path.read_text(encoding="utf-8"))
    user = sender_id(body)
    signal = parse(Happening(body, ME, Sender(user, NAMES.get(user, user)), NOW))
    same_as(path.with_suffix(".txt"), described(signal))


def test_there_is_one_of_each_kind() -> None:
    assert len(PAYLOADS) >= 17
