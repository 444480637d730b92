"""Kinds of text columns: the gate of the leak guard by which their text comes, and how they lose somebody who is forgotten."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from runtime.guard.findings import Gate
from runtime.guard.stored import Form


class Forgets(StrEnum):
    """Ways in which a column loses a person. Rows that are theirs go, or lose all of their own words."""

    WORDS = "their names and lines with their words are taken out"
    IDS = "a mark stands where their ids and rooms stood"
    OWNER = "its row is theirs where it names them, and a mark takes their place where the row stays"
    DIGEST = "emptied in rows that are theirs"
    RESEALED = "taken out, and told by a signed row: see runtime/audit/redactions.py"
    GONE = "emptied once they are forgotten"
    NONE = "nothing of a person"
    STAYS = "words of the operators: only they can change them"


@dataclass(frozen=True, slots=True)
class Free:
    """Free text. `stays` is why a scan only tells of it; with `while_open` that holds while something of its row is open.
    `said_by` is the column that says whose words they are, where that isn't whoever the row belongs to."""

    gate: Gate
    form: Form = Form.TEXT
    stays: str = ""
    while_open: bool = False
    forgets: Forgets = Forgets.WORDS
    said_by: str = ""


@dataclass(frozen=True, slots=True)
class Fixed:
    """No free text: `why` not."""

    why: str
    forgets: Forgets


Column = Free | Fixed

OWN_ID: Final = Fixed("an id of ours", Forgets.NONE)
OWN_WORD: Final = Fixed("one of our words", Forgets.NONE)
OWN_ADDRESS: Final = Fixed("an address or account, as its platform numbers it", Forgets.OWNER)
PLATFORM_ID: Final = Fixed("an id that the platform gave", Forgets.IDS)
PERSON_ID: Final = Fixed("an id of a person or of their account, to whom the row belongs", Forgets.OWNER)
DONE_BY: Final = Fixed("an id of a person who did something with it", Forgets.IDS)
HASH: Final = Fixed("a hash", Forgets.NONE)
WORDS_HASH: Final = Fixed("a hash of what somebody wrote", Forgets.DIGEST)
CHOSEN_NAME: Final = Fixed("a name of the settings or of this program", Forgets.NONE)
SEALED: Final = Fixed("sealed with the key of the data folder", Forgets.DIGEST)
VENDOR_ID: Final = Fixed("an id that the model's vendor gave", Forgets.NONE)
SIGNED: Final = Fixed("a signature, or a public key", Forgets.NONE)

SAID: Final = Free(Gate.MESSAGE_IN)
SAID_JSON: Final = Free(Gate.MESSAGE_IN, Form.JSON)
HANDED: Final = Free(Gate.HANDED_ON)
HANDED_JSON: Final = Free(Gate.HANDED_ON, Form.JSON)
"""What one agent hands to another."""
ARGUMENTS: Final = Free(Gate.TOOL_ARGUMENTS, Form.JSON)
GIVEN: Final = Free(Gate.TOOL_RESULT)
REPLY: Final = Free(Gate.MODEL_REPLY)
SHOWN: Final = Free(Gate.DELIVERY)
SHOWN_JSON: Final = Free(Gate.DELIVERY, Form.JSON)
TROUBLE: Final = Free(Gate.DELIVERY)
"""Words about an error: of ours, and of whoever refused something."""

OPEN_CALL: Final = Free(
    Gate.TOOL_ARGUMENTS, Form.JSON, "its call is still open, and could not run any more; decide or stop it", True
)
GRANTED: Final = Free(
    Gate.TOOL_ARGUMENTS, Form.JSON, "a grant goes by it; end it with `signalbox grants revoke`", while_open=True
)
KEPT: Final = Free(Gate.TOOL_RESULT, Form.TEXT, "an undo needs it; it goes when that is no longer offered")
CHAINED: Final = Free(
    Gate.MESSAGE_IN, Form.TEXT, "the audit is a chain; nothing in it can be changed", forgets=Forgets.RESEALED
)
DECIDED: Final = Free(Gate.MESSAGE_IN, said_by="decided_by")
"""Words and name of whoever decided, which may be another person than the one whose question it is."""
OFFERED: Final = Free(Gate.HANDED_ON, Form.JSON, forgets=Forgets.STAYS)
"""A tool in its server's words, cleaned as it is offered: a row that a scan cleans reads equal to it."""

REMEMBERED: Final = Free(Gate.MEMORY_WRITE)
KNOWN: Final = Free(Gate.MEMORY_WRITE, forgets=Forgets.STAYS)
"""Of documents that operators name."""
VECTOR: Final = Fixed("numbers that a model made of a text, and that go with it", Forgets.NONE)

CALLED: Final = Free(
    Gate.MESSAGE_IN, Form.TEXT, "people are known by it; choose another with `signalbox people rename`"
)
