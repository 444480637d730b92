"""A watch over several models: who stands in for whom, and who rests. It counts, and changes nothing."""

from __future__ import annotations

from typing import Final

from runtime.errors import Cause


class ChainWatch:
    """Sees nothing. One that counts says what it wants to see. A method is cheap and never raises."""

    def stood_in(self, model: str, instead_of: str) -> None:
        """`model` answered in the place of another one."""

    def rested(self, model: str, cause: Cause) -> None:
        """`model` is not asked for a while."""


UNWATCHED: Final = ChainWatch()
