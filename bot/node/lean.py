"""structlog without the pretty tracebacks of rich, which show every local value, secrets too, and without greenlets.

To be imported before anything imports it: 4 MB, and a tenth of the time that a start takes.
"""

from __future__ import annotations

from typing import Final

from runtime.lean import without

UNUSED: Final = ("rich", "better_exceptions", "greenlet")

with without(*UNUSED):
    import structlog  # noqa: F401 - for its effect: from now on it is there
