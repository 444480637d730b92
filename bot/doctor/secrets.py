"""Sealed secrets: whether each file of the chain can be read, and by whom."""

from __future__ import annotations

import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from bot.doctor.subject import Subject, fault, fine, warning
from bot.secrets.chain import Member, Place
from bot.secrets.errors import NoPassphrase, SecretsError
from bot.secrets.removed import at_work
from bot.settings.settings import Settings
from runtime.contract import Finding

NAMES = {Place.NAMED: "secrets.named", Place.DATA: "secrets.data_dir", Place.USER: "secrets.user"}


async def check_secrets(subject: Subject) -> Sequence[Finding]:
    settings = subject.settings
    found = [_member(settings, member) for member in settings.chain.members if member.named or member.file.exists()]
    return [*(found or [fine("secrets.data_dir", "nothing is sealed")]), *_passphrase_file(settings)]


def _member(settings: Settings, member: Member) -> Finding:
    ident = NAMES[member.place]
    try:
        opened = member.file.open(settings.chain.keyring)
    except NoPassphrase as error:
        if not member.named:
            return warning(ident, f"{error.path}: {error.fault}", "A start like this skips it.", error.fix)
        return fault(ident, f"{error.path}: {error.fault}", "Signalbox won't start without it.", error.fix)
    except SecretsError as error:
        if not member.named:
            return warning(
                ident, f"{error.path}: {error.fault}", "It is skipped, so its secrets aren't found.", error.fix
            )
        return fault(ident, f"{error.path}: {error.fault}", "Signalbox won't start without it.", error.fix)
    count = len(at_work(opened.entries))
    return fine(ident, f"{member.file.path}: {count} sealed, opened with {opened.passphrase.source}")


def _passphrase_file(settings: Settings) -> Iterator[Finding]:
    path = settings.secrets.passphrase_file
    if path is not None and _mode_of(path) & 0o007:
        why = "Anyone who has it and the sealed file has the secrets."
        yield warning("secrets.passphrase_file", f"{path} can be read by everybody", why, f"chmod o= {path}")


def _mode_of(path: Path) -> int:
    """0 for one that we cannot see: whoever needs it says so."""
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except OSError:
        return 0
