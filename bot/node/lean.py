"""Libraries that each process loads, without what it may never need. To be imported before anything imports them.

structlog: without the pretty tracebacks of rich, which show every local value, secrets too, and without greenlets: 4 MB, and
a tenth of the time that a start takes. aiohttp: its clients read the machine's certificates with their first connection, twice
2 MB and 20 ms. dataclasses: their seldom methods are shared.
"""

from __future__ import annotations

from typing import Final

from bot.node.lean_classes import share_methods
from runtime.lean import late_certificates, without

UNUSED: Final = ("rich", "better_exceptions", "greenlet")

share_methods()
with without(*UNUSED):
    import structlog  # noqa: F401 - for its effect: from now on it is there
with late_certificates():
    import aiohttp  # noqa: F401 - as above
