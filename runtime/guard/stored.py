"""Text that is stored already, as a scan of old rows looks at it. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Any, Final

from runtime.guard.findings import Detector, Finding, Strictness
from runtime.guard.guard import Checked

Check = Callable[[str], Checked]


class Form(StrEnum):
    """Ways in which a column writes its text."""

    TEXT = "text"
    JSON = "json"  # its strings are looked at one by one, and it stays JSON
    THINKING = "thinking"  # JSON; what its vendor signed cannot be changed and is given up


OUR_WORD: Final = re.compile("[a-z_]{1,24}")
"""Words of ours in JSON, such as "approve": a rule of the settings may have the same one, and means it in free text."""
SURE: Final = (Detector.HELD, Detector.SHAPE)
BLOCKS: Final = 2
"""Place of the vendor's own form in a stored thought."""


def looked_at(text: str, form: Form, check: Check) -> tuple[str, Sequence[Finding]]:
    """`text` as it may stay, and what is found in it. What only looks random is no finding of a scan."""
    if not _counted(check(text)):
        return text, ()
    looking = _Looking(check)
    if form is Form.TEXT or (parsed := _parsed(text)) is None:
        return looking.words(text), tuple(looking.findings)
    cleaned = looking.thought(parsed) if form is Form.THINKING else looking.value(parsed)
    return looking.whole(text if cleaned == parsed else _written(cleaned)), tuple(looking.findings)


class _Looking:
    """One text, and what is found in it."""

    def __init__(self, check: Check) -> None:
        self._check = check
        self.findings: dict[Finding, None] = {}

    def words(self, text: str) -> str:
        checked = self._check(text)
        found = _counted(checked)
        if not found or (OUR_WORD.fullmatch(text) and all(one.detector not in SURE for one in found)):
            return text
        self.findings |= dict.fromkeys(found)
        return checked.text

    def value(self, value: Any) -> Any:
        match value:
            case str():
                inner = _parsed(value)  # a call's arguments are JSON in JSON
                cleaned = self.words(value) if inner is None else self.value(inner)
                return value if cleaned == inner else cleaned if inner is None else _written(cleaned)
            case dict():
                return {self.words(name): self.value(one) for name, one in value.items()}
            case list():
                return [self.value(one) for one in value]
            case _:
                return value

    def thought(self, thought: Any) -> Any:
        cleaned = self.value(thought)
        if isinstance(cleaned, list) and len(cleaned) > BLOCKS and cleaned[BLOCKS] != thought[BLOCKS]:
            cleaned[BLOCKS] = ""
        return cleaned

    def whole(self, text: str) -> str:
        """Some secrets are known by what stands before them, such as the name of a field: where the rest is still JSON."""
        checked = self._check(text)
        sure = [one for one in _counted(checked) if one.detector in SURE]
        if not sure or checked.is_withheld or _parsed(checked.text) is None:
            return text
        self.findings |= dict.fromkeys(sure)
        return checked.text


def _counted(checked: Checked) -> list[Finding]:
    random = (Detector.ENTROPY, Strictness.WARN)
    return [one for one in checked.findings if (one.detector, one.action) != random]


def _parsed(text: str) -> Any:
    """A list or an object; None for all else."""
    if not text.startswith(("{", "[")):
        return None
    try:
        parsed = json.loads(text)
    except ValueError:
        return None
    return parsed if isinstance(parsed, dict | list) else None


def _written(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
