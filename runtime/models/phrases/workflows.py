"""Phrases about workflows that the demo model understands."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Final

from runtime.contract import Json

# As `demo_phrases.PHRASES` has them. The group `given` becomes inputs, see `started`.
WORKFLOWS: Final[Sequence[tuple[str, str, Mapping[str, Json]]]] = (
    (r"start (?:the )?workflow (?P<name>[\w-]+)(?: with (?P<given>.+))?", "workflow_start", {}),
    (r"(?:list (?:the )?|what |which )workflows(?: are there| do you know)?\??", "workflow_list", {}),
)
WHAT_I_START: Final = "- `start the workflow NAME` (or `… with key=value`), `list the workflows`"


def started(groups: Mapping[str, str]) -> dict[str, Json]:
    """Arguments that start a workflow.

    >>> started({"name": "weekly", "given": 'since="7 days" loud=yes'})
    {'name': 'weekly', 'inputs': {'since': '7 days', 'loud': 'yes'}}
    """
    try:
        parts = [one.partition("=") for one in shlex.split(groups.get("given", ""))]
    except ValueError:  # a quotation mark is missing: the tool says what it needs
        parts = []
    return {"name": groups["name"], "inputs": {key: value for key, mark, value in parts if mark}}
