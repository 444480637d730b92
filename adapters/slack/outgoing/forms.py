"""A form as a modal of Slack. Pure.

Limits: docs.slack.dev/reference/block-kit/blocks/input-block and …/views/modal-views, read 2026-11.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from adapters.slack.interactions import FORM_CALLBACK
from runtime.contract import Address, Field, Form
from runtime.text.glyphs import head

TEXT: Final = 3_000  # characters of an input, and of a section
MODAL_TITLE_MAX_CHARS: Final = 24  # … of the title and of the button that sends it
LABEL: Final = 2_000
HINT: Final = 150
OPTION: Final = 75

Json = dict[str, Any]


def modal(form: Form, address: Address, *, alone: bool = False) -> Mapping[str, Any]:
    """It carries what is answered, and where the answer belongs; all of that comes back as it is.

    `alone`: nobody else saw what was pressed for it.
    """
    about: Json = {"approval": form.approval_id, "choice": form.choice, "room": address.room, "thread": address.thread}
    about |= {"alone": True} if alone else {}
    note = [{"type": "section", "text": _plain(head(form.note, TEXT))}] if form.note else []
    return {
        "type": "modal",
        "callback_id": FORM_CALLBACK,
        "private_metadata": json.dumps(about),
        "title": _plain(head(form.title, MODAL_TITLE_MAX_CHARS)),
        "submit": _plain(head(form.send, MODAL_TITLE_MAX_CHARS)),
        "close": _plain("Cancel"),
        "blocks": [*note, *map(_input, form.fields)],
    }


def _input(field: Field) -> Json:
    return {
        "type": "input",
        "block_id": field.name,
        "label": _plain(head(field.label, LABEL)),
        "optional": field.optional,
        "element": _select(field) if field.options else _text(field),
    }


def _text(field: Field) -> Json:
    made: Json = {
        "type": "plain_text_input",
        "action_id": field.name,
        "multiline": field.lines,
        "max_length": min(field.most, TEXT),
    }
    if field.text:
        made["initial_value"] = field.text
    return made | ({"placeholder": _plain(head(field.hint, HINT))} if field.hint else {})


def _select(field: Field) -> Json:
    options = [_option(one) for one in field.options]
    made: Json = {"type": "static_select", "action_id": field.name, "options": options}
    return made | ({"initial_option": _option(field.text)} if field.text in field.options else {})


def _option(text: str) -> Json:
    return {"text": _plain(head(text, OPTION)), "value": text}


def _plain(text: str) -> Mapping[str, str]:
    return {"type": "plain_text", "text": text}
