"""The settings file on the disk: read with its digest, and replaced as a whole if it is still what somebody saw."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bot.secrets.disk import alone_in, flush_folder
from runtime.errors import ConfigError

FILE_MAX_BYTES: Final = 4 << 20
DRAFT_SUFFIX: Final = ".edited"
"""Ends the name of the file that is written before it takes the place of the settings."""


class FileChanged(ConfigError):
    """Somebody else has changed the file since it was read."""


@dataclass(frozen=True, slots=True)
class SettingsText:
    """Text of the file. `place` is the file itself, where `path` is a link to it. `is_new` is one that isn't there yet."""

    path: Path
    place: Path
    text: str
    digest: str
    is_new: bool = False


def read_settings_file(path: Path, *, may_be_new: bool = False) -> SettingsText:
    """The text that is there; for a process that was started without a file (`may_be_new`), an empty one to begin with.

    Errors: ConfigError with words on what to do.
    """
    if may_be_new and not (path.exists() or path.is_symlink()):
        return SettingsText(path, path, "", digest_of(b""), is_new=True)
    place = _place_of(path)
    try:
        data = place.read_bytes()
        text = data.decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} can't be read ({error}).") from None
    if len(data) > FILE_MAX_BYTES:
        raise ConfigError(f"{path} is too large to be changed from here.")
    return SettingsText(path, place, text, digest_of(data))


def digest_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def unwritable(place: Path) -> str:
    """The reason that the file can't be replaced by this process, and the way out; empty where it can."""
    folder = place.parent
    if not os.access(folder, os.W_OK | os.X_OK):
        return (
            f"This process may not write into {folder}. Let its user do so (chown or chmod of the folder), "
            "or change the file there and then run: signalbox reload"
        )
    if not place.exists():
        return ""
    if not os.access(place, os.W_OK):
        return f"{place} is read-only for this process. Make it writable for its user, or change it there."
    if _is_mounted_alone(place):
        return f"{place} is mounted by itself, so it can't be replaced. Mount its folder instead, or change it there."
    return _foreign(place)


def replace_file(place: Path, digest: str, text: str, between: Callable[[], None] = lambda: None) -> str:
    """Put `text` in place of what has `digest`, whole or not at all, with the mode and the owner it had; the new digest.

    A file that isn't there has the digest of an empty one, and is made for its owner alone.
    `between` is called when all is on the disk but the name. Errors: FileChanged, ConfigError with words.
    """
    data = text.encode("utf-8")
    try:
        with alone_in(place.parent):
            if digest_of(place.read_bytes() if place.exists() else b"") != digest:
                raise FileChanged(f"{place.name} was changed meanwhile.")
            _replace(place, data, between)
    except OSError as error:
        raise ConfigError(f"{place} can't be written ({error.strerror or error}). Nothing was changed.") from error
    return digest_of(data)


def _replace(place: Path, data: bytes, between: Callable[[], None]) -> None:
    status = place.stat() if place.exists() else None
    fresh = place.with_name(f".{place.name}{DRAFT_SUFFIX}")
    fresh.unlink(missing_ok=True)  # a kill left it behind
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            if status is not None:
                _keep_owner(file.fileno(), status)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        between()
        fresh.replace(place)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise
    flush_folder(place.parent)


def _keep_owner(descriptor: int, status: os.stat_result) -> None:
    fresh = os.fstat(descriptor)
    if (fresh.st_uid, fresh.st_gid) != (status.st_uid, status.st_gid):
        os.fchown(descriptor, status.st_uid, status.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(status.st_mode))


def _place_of(path: Path) -> Path:
    """The file behind a link. Errors: ConfigError for one that leads nowhere, or to what is no file."""
    try:
        place = path.resolve(strict=True)
    except (OSError, RuntimeError):
        fault = "is a link that leads nowhere" if path.is_symlink() else "isn't there any more"
        raise ConfigError(f"{path} {fault}. Put it right, then reload.") from None
    if not place.is_file():
        raise ConfigError(f"{path} isn't a plain file, so it can't be changed from here.")
    return place


def _is_mounted_alone(place: Path) -> bool:
    return place.is_mount() or place.stat().st_dev != place.parent.stat().st_dev


def _foreign(place: Path) -> str:
    """A file of somebody else would become ours, or lose its group: only root may give it back."""
    status, us = place.stat(), os.geteuid()
    if us in (0, status.st_uid) and (us == 0 or status.st_gid in (os.getegid(), *os.getgroups())):
        return ""
    return f"{place} belongs to another user or group than this process. Give it to its user with chown, or change it there."
