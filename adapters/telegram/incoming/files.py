"""Files that people sent, brought here: an id becomes a path at the platform, and that path, with the token, a download."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from telegram import Bot
from telegram.error import TelegramError

from adapters.telegram.client import Client
from adapters.telegram.errors import TOO_BIG, Refused, ours
from runtime.contract import FileRef
from runtime.errors import Rejected, Retryable, Uncertain

DOWNLOAD_MAX_BYTES: Final = 20 * 1024 * 1024
"""Bytes of a file that a bot may download. Source: core.telegram.org/bots/api#getfile, read 2026-11."""
TOO_LARGE: Final = "The file {name} is too large: Telegram lets a bot download at most 20 MB."


class Files:
    def __init__(self, *, bot: Bot, client: Client, account: str) -> None:
        self._bot = bot
        self._client = client
        self._account = account

    async def fetch(self, file: FileRef, into: Path, *, most: int) -> None:
        """Errors: Retryable; Rejected when it is gone, or has more than `most` bytes or than the platform hands out."""
        if file.size > DOWNLOAD_MAX_BYTES:
            raise Rejected(TOO_LARGE.format(name=file.name))
        if file.size > most:
            raise _over(file, most)
        try:
            found = await self._bot.get_file(file.remote)
            size = await self._client.download(found.file_path or "", into, most)
        except Refused as error:
            if TOO_BIG in error.text:
                raise Rejected(TOO_LARGE.format(name=file.name)) from error
            raise ours(error, self._account) from error
        except TelegramError as error:
            raise _again(ours(error, self._account)) from error
        if size > most:
            raise _over(file, most)


def _over(file: FileRef, most: int) -> Rejected:
    return Rejected(f"The file {file.name} is too large: at most {most / 1024 / 1024:.4g} MiB are allowed.")


def _again(error: Exception) -> Exception:
    """Downloading twice does no harm: nothing about it is uncertain."""
    return Retryable(str(error)) if isinstance(error, Uncertain) else error
