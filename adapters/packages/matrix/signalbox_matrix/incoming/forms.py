"""Forms at Matrix, which has none: a message asks for the words, and the answer to it is the sent form.

The asking message holds what it asks for under a key of ours, so nothing has to be remembered.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, Final

from signalbox.channels import Choice, Clicked, Field, Form, filled, say

Raw = Mapping[str, Any]

FIELDS_MAX_CHARS: Final = 6_000
"""Of what stands in a form: an event holds it twice."""


def asking(form: Form, user: str, name: str, notice: str = "") -> tuple[str, str, Raw]:
    """Words that ask for a form as text and HTML, and what the message holds under our key."""
    several = len(form.fields) > 1
    label = say("Write a line for each:") if several else f"{form.fields[0].label}:"
    asks = say("{name}, reply to this message.", name=name)
    opening = " ".join(filter(None, [notice, asks, form.note, label]))
    lines = [_line(field, several=several) for field in form.fields]
    text = "\n".join([opening, *filter(None, lines)])
    html = f"<p>{escape(opening)}</p>" + "".join(f"<pre><code>{escape(line)}</code></pre>" for line in lines if line)
    fields = [field.name for field in form.fields]
    return text, html, {"approval": form.approval_id, "choice": form.choice.value, "fields": fields, "of": user}


def _line(field: Field, *, several: bool) -> str:
    now = f"{field.name}: {field.text}" if several else field.text
    return f"{now} ({' / '.join(field.options)})" if field.options else now


def answered(form: Raw, user: str, text: str) -> Clicked | None:
    """The sent form that an answer is; None for one by somebody else. Errors: LookupError, ValueError."""
    if form.get("of") != user:
        return None
    return filled(str(form["approval"]), Choice(form["choice"]), typed(text, [str(name) for name in form["fields"]]))


def typed(text: str, fields: Sequence[str]) -> Mapping[str, str]:
    """Words by the names of `fields`. Several are written a line each, as `name: words`; a line without a name goes on."""
    if len(fields) == 1:
        return {fields[0]: text}
    values: dict[str, str] = {}
    last = fields[0]
    for line in text.splitlines():
        name, colon, rest = line.partition(":")
        if colon and name.strip().lower() in fields:
            last = name.strip().lower()
            values[last] = rest.strip()
        elif last in values:
            values[last] += f"\n{line}"
    return values
