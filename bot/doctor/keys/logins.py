"""Sign-ins: which nobody made, which need another one, and until when the others are good."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final

from bot.doctor.rows import LOGIN_FACTS, rows_of
from bot.doctor.subject import Subject, fine, warning
from bot.settings.settings import Settings
from bot.wiring.logins.parts import login_sealer_of
from runtime.contract import Finding
from runtime.guard.sealing import Unsealable
from runtime.text.naming import listed

SIGN_IN_FIX: Final = "signalbox login {name}"
WHY_LOGIN: Final = "What uses its token can't."
OTHER_NODE: Final = "This node can't use its token, and others may."
SAME_KEY: Final = (
    "give all nodes one key: secrets.shared_key_env, or the same guard.key in each data_dir; then sign in again"
)


async def check_logins(subject: Subject) -> Sequence[Finding]:
    settings = subject.settings
    if not settings.logins:
        return []
    [rows] = await rows_of(settings, LOGIN_FACTS)
    kept = {row[0]: row for row in rows}
    return [await asyncio.to_thread(_one, settings, table.name, kept.get(table.name)) for table in settings.logins]


def _one(settings: Settings, name: str, row: Sequence[Any] | None) -> Finding:
    ident, fix = f"logins.{name}", SIGN_IN_FIX.format(name=name)
    users = _users(settings, name)
    if row is None:
        return warning(ident, f"nobody is signed in at {name}{users}", WHY_LOGIN, fix)
    _, ends_at, renews, issuer, trouble, sealed = row
    if not _opens(settings, name, sealed):
        return warning(ident, f"{name} was sealed with another node's key", OTHER_NODE, SAME_KEY)
    if trouble:
        return warning(ident, f"{name}: {trouble}", WHY_LOGIN, fix)
    ends = datetime.fromtimestamp(ends_at / 1_000_000, UTC) if ends_at else None
    if ends and ends <= datetime.now(UTC) and not renews:
        return warning(ident, f"the token of {name} ended at {ends:%Y-%m-%d %H:%M} UTC", WHY_LOGIN, fix)
    until = f"good until {ends:%Y-%m-%d %H:%M} UTC" if ends else "without an end"
    return fine(ident, f"signed in at {issuer}, {until}{', then renewed' if renews and ends else ''}{users}")


def _users(settings: Settings, name: str) -> str:
    models = [table.name for table in (settings.model, *settings.models) if table.login == name]
    return f", for {listed(models)}" if models else ""


def _opens(settings: Settings, name: str, sealed: str) -> bool:
    place = f"login {name}"
    try:
        return bool(login_sealer_of(settings)().open(sealed, place))
    except Unsealable:
        return False
