"""Phrases about figures, values under keys and work that was handed on, as the demo model understands them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from runtime.contract import Json, ToolTurn, Turn

Phrase = tuple[str, str, Mapping[str, Json]]

HOURS: Final = r"(?: in the last (?P<hours>\d{1,4}) hours?)?\??"
HANDED_ON_LAST: Final = "what you handed on"
"""In place of an id: the work that was handed on last."""
BEGUN: Final = re.compile(r"\((?P<id>\w+)\)")
# As `demo_phrases.PHRASES` has them.
RECORDS: Final[Sequence[Phrase]] = (
    (rf"what happened(?: here)?{HOURS}", "activity", {}),
    (rf"what did (?:it|that|this|everything) cost{HOURS}", "costs", {}),
    (rf"how were your (?:answers|messages) rated{HOURS}", "feedback", {}),
    (r"list the (?:pending|open) approvals", "pending_approvals", {}),
    (r"(?:list the )?(?:dead letters|messages that (?:weren't|were not) shown)", "dead_letters", {}),
    (r"is (?:the )?message (?P<message>\w+) shown\??", "delivery_status", {}),
    (r"what did you hand on\??", "children", {}),
    (rf"stop (?:(?:the )?child (?P<child>\w+)|{HANDED_ON_LAST})", "stop_child", {}),
    (r"keep (?P<value>.+) under (?P<key>\S+)", "state_set", {}),
    (r"what(?:'s| is) under (?P<key>[^\s?]+)\??", "state_get", {}),
    (r"list the (?:keys|values)", "state_list", {}),
    (r"remove (?:the key|what is under) (?P<key>\S+)", "state_delete", {}),
    (r"(?P<method>post|put|patch|delete) (?:(?P<body>\S.*) to )?(?P<url>https?://\S+)", "http_request", {}),
)
WHAT_I_LOOK_UP: Final = """\
- `what happened?`, `what did it cost?` (or `… in the last 48 hours`), `how were your answers rated?`
- `list the pending approvals`, `list the dead letters`, `is message ID shown?`
- `keep VALUE under KEY` (then `what is under KEY?`, `list the keys`, `remove the key KEY`)
- `POST TEXT to https://HOST/PATH` (or `PUT`, `PATCH`, `DELETE`)
- `what did you hand on?`, `stop what you handed on`, while an answer that hands work on is made"""


def record_of(groups: Mapping[str, str]) -> dict[str, Json]:
    """Arguments that the parts of a phrase are.

    >>> record_of({"key": "report/last", "value": "three cups"})
    {'key': 'report/last', 'value': '"three cups"'}
    """
    rest: dict[str, Json] = dict(groups)
    if "hours" in groups:
        rest["hours"] = int(groups["hours"])
    if "method" in groups:
        rest["method"] = groups["method"].upper()
    return rest | ({"value": _as_json(groups["value"])} if "value" in groups else {})


def _as_json(text: str) -> str:
    try:
        json.loads(text)
    except ValueError:
        return json.dumps(text, ensure_ascii=False)
    return text


def handed_on_last(turns: Iterable[Turn]) -> str:
    """The id of the work that was handed on last; empty for none."""
    told = [turn.text for turn in turns if isinstance(turn, ToolTurn) and turn.tool == "delegate"]
    found = [one["id"] for text in told if (one := BEGUN.search(text))]
    return found[-1] if found else ""
