"""The slice of the settings that a Matrix account needs."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

MATRIX: Final = "matrix"


@dataclass(frozen=True, slots=True)
class Waits:
    """Waits of the account. Tests shorten all of them."""

    # The homeserver holds a sync so long when there is nothing to tell. One that went silent is noticed once it and
    # `margin` are over: together less than the 20 s in which /readyz tells of a platform.
    poll: timedelta = timedelta(seconds=10)
    margin: timedelta = timedelta(seconds=8)
    call: timedelta = timedelta(seconds=25)  # for the answer to any other call; the courier gives a send 30 s
    connect: timedelta = timedelta(seconds=5)
    again: timedelta = timedelta(seconds=1)  # after the first failure in a row; it doubles
    again_most: timedelta = timedelta(seconds=30)
    refused: timedelta = timedelta(seconds=15)  # until a refused token is tried again
    save: timedelta = timedelta(seconds=2)  # between two notes of how far it was read

    def after(self, failures: int) -> timedelta:
        """The wait after so many failures in a row."""
        grown: timedelta = min(self.again * 2 ** min(failures - 1, 10), self.again_most)
        return grown


@dataclass(frozen=True, slots=True)
class MatrixSettings:
    """One bot user. `homeserver` is the address of its client-server API, without the path `/_matrix`."""

    account: str
    homeserver: str
    token: str = field(repr=False)
    waits: Waits = Waits()

    @property
    def server(self) -> str:
        return self.homeserver.rstrip("/").removesuffix("/_matrix")
