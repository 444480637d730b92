"""LiteLLM, imported by whoever needs it first.

Importing it takes seconds and about 190 MB, so it happens in a thread, at the first message that needs it. Its fetch
of the price list is off when LITELLM_LOCAL_MODEL_COST_MAP is set before: `bot.settings` sees to that.
"""

from __future__ import annotations

import asyncio
import threading
from typing import Any, Final


class Library:
    """Gives LiteLLM, set to do nothing but our calls."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._module: Any = None

    async def get(self) -> Any:
        """The module; only the first caller and those beside it wait."""
        return self._module or await asyncio.to_thread(self._load)

    def _load(self) -> Any:
        with self._lock:
            if self._module is None:
                import litellm
                import openai.resources  # noqa: F401 - LiteLLM would import it in the first call, in the event loop

                litellm.telemetry = False
                litellm.suppress_debug_info = True  # it prints advice to standard output otherwise
                litellm.drop_params = True  # a provider without, say, stream_options is asked without
                litellm.disable_token_counter = True  # 40 MB of tables, to guess what providers count themselves
                self._module = litellm
            return self._module


LIBRARY: Final = Library()
"""One for the process, as the imported module is."""


async def preload() -> None:
    """Pay the import now, so that the first message need not."""
    await LIBRARY.get()
