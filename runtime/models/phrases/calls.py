"""The phrase with which the demo model calls any tool by its name, such as one of an MCP server."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Final

from runtime.contract import Json

CALL: Final = re.compile(
    r"call (?P<tool>[a-z0-9-]+_[\w-]+)(?: (?:with )?(?P<arguments>\{.*\}))?[.!]?", re.IGNORECASE | re.DOTALL
)
WHAT_I_CALL: Final = '- `call SERVER_TOOL {"name": "value"}` (any tool by its name, such as one of an MCP server)'


def named_call(line: str) -> tuple[str, Mapping[str, Json]] | None:
    """Tool and arguments of a line that names both; None for chat.

    >>> named_call('call desk_book {"seats": 2}')
    ('desk_book', {'seats': 2})
    """
    found = CALL.fullmatch(line)
    if found is None:
        return None
    try:
        arguments = json.loads(found["arguments"] or "{}")
    except ValueError:
        return None
    return (found["tool"], arguments) if isinstance(arguments, dict) else None
