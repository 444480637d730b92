"""The leak guard: how strict it is, how much it looks for, and its key."""

from __future__ import annotations

import stat
from collections.abc import Iterator, Sequence
from typing import Final

from bot.doctor.subject import Subject, fault, fine, warning
from bot.node.lock import Control
from bot.operator.client import connected
from bot.settings.safety.guard import Guardrails
from bot.settings.settings import Settings
from bot.wiring.safety.guard import KEY_FILE
from runtime.contract import Finding
from runtime.errors import BotError
from runtime.guard.findings import Strictness
from runtime.guard.held import SHORTEST
from runtime.guard.sealing import KEY_BYTES

OTHERS: Final = 0o077
ORDINARY_TEXTS: Final = ("Good morning!", "OK.", "The train leaves at 12:40, says Ann; is that too late?")
STAYS: Final = "Keys and tokens that people paste or tools return are stored, sent to the model and shown."


async def check_guard(subject: Subject) -> Sequence[Finding]:
    settings = subject.settings
    running = await _guardrails(subject.control) if subject.control else ""
    return [_strictness(settings), *_wide(settings), *_overridden(running), *_key(settings)]


async def _guardrails(control: Control) -> str:
    """Guardrails that the running process was started with; empty also where it doesn't answer, which another check tells."""
    try:
        async with connected(control) as client:
            return str((await client.overview())["info"].get("guardrails", ""))
    except BotError:
        return ""


def _overridden(guardrails: str) -> Iterator[Finding]:
    if guardrails == Guardrails.OFF:
        what = "the running process was started with --no-guardrails: nothing is looked for"
        yield warning("guard.running", what, STAYS, "restart it without that flag")
    elif guardrails == Guardrails.ENFORCED:
        yield fine("guard.running", "the running process was started with --enforce-guardrails")


def _strictness(settings: Settings) -> Finding:
    guard = settings.guard
    known = [*settings.held_values(), *settings.chain.unasked()]
    held = {value for _, value in known if len(value.strip()) >= SHORTEST}
    told = [
        f"secrets {guard.secrets}, random text {guard.random}, personal data {guard.personal}",
        f"values held: {len(held):,}",
        f"own rules: {len(settings.guard_rules):,}",
        f"stricter rooms: {sum(bool(room.guarded) for room in settings.rooms):,}",
    ]
    what = "; ".join(told)
    if guard.secrets in (Strictness.OFF, Strictness.WARN):
        return warning("guard.secrets", what, STAYS, 'set secrets = "redact" in [guard]')
    return fine("guard.secrets", what)


def _wide(settings: Settings) -> Iterator[Finding]:
    """Rules under which hardly a text stays as it is: with `enforce` even their own alert would be withheld."""
    for number, rule in enumerate(settings.guard_rules, 1):
        if rule.result is not Strictness.OFF and all(map(rule.finds, ORDINARY_TEXTS)):
            what = f'guard_rules[{number}] ("{rule.name}") finds something in almost any text'
            fix = "narrow it, and try it: signalbox guard test TEXT"
            yield warning("guard.wide", what, "Messages, results and answers lose their words, or are withheld.", fix)


def _key(settings: Settings) -> Iterator[Finding]:
    """Nothing before the first start, which makes it."""
    path = settings.data_dir / KEY_FILE
    try:
        about = path.stat()
    except FileNotFoundError:
        return
    except OSError as error:
        why = "Signalbox won't start without it."
        yield fault("guard.key", f"{path} can't be read: {error.strerror}", why, f"give it to this user: chown {path}")
        return
    if about.st_size != KEY_BYTES:
        why = "Calls that need a secret can't be sealed with it, or opened."
        fix = "take it from a backup, or remove it: the next start makes another"
        yield fault("guard.key", f"{path} has {about.st_size:,} bytes instead of {KEY_BYTES}", why, fix)
    elif (mode := stat.S_IMODE(about.st_mode)) & OTHERS:
        why = "Anyone who reads it and the database can open the arguments of calls that need a secret."
        yield warning("guard.key", f"{path} is open to others (mode {mode:04o})", why, f"chmod 600 {path}")
    else:
        yield fine("guard.key", f"{path}, for this user alone")
