"""Faults of a backup, in words for whoever needs it now."""

from __future__ import annotations

from runtime.errors import BotError


class BadBackup(BotError):
    """The file is no backup, damaged, or newer than this program. Nothing was changed."""


class BackupFailed(BotError):
    """A backup or restore did not come to its end. Nothing that was there before was changed."""
