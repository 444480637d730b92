"""Files that people sent, brought here by their address at the homeserver."""

from __future__ import annotations

from pathlib import Path

from signalbox.channels import FileRef, Rejected
from signalbox_matrix.api import Api
from signalbox_matrix.errors import MatrixError, ours


class Files:
    def __init__(self, *, api: Api, account: str) -> None:
        self._api = api
        self._account = account

    async def fetch(self, file: FileRef, into: Path, *, most: int) -> None:
        """Errors: Retryable; Rejected when it is gone, or has more than `most` bytes."""
        if file.size > most:
            raise _over(file, most)
        try:
            size = await self._api.download(file.remote, into, most)
        except MatrixError as error:
            told = ours(error, self._account, reads=True)
            raise (
                Rejected(f"The file {file.name} can't be had: {error}") if isinstance(told, Rejected) else told
            ) from error
        if size > most:
            raise _over(file, most)


def _over(file: FileRef, most: int) -> Rejected:
    return Rejected(f"The file {file.name} is too large: at most {most / 1024 / 1024:.4g} MiB are allowed.")
