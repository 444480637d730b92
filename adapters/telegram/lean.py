"""The library without what this channel never uses: to be imported before it.

Telegram passports (`cryptography`) and httpx's command line are 9 of 16 MB and a third of the time that the import takes.
"""

from __future__ import annotations

from typing import Final

from runtime.lean import without

UNUSED: Final = ("cryptography.hazmat.backends", "httpx._main")

with without(*UNUSED):
    import telegram  # noqa: F401 - for its effect: from now on it is there
