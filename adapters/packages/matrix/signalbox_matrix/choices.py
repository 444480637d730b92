"""Choices on a card where a platform has no buttons: an emoji to react with, or a word and the card's code to write.

The card's event holds its choices, under a key of our own, so nothing has to be remembered: any process of the account can
tell what a reaction means, also after a restart. Only cards that we sent ourselves are read. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

from signalbox.channels import ApprovalId, Button, Choice, say
from signalbox.markup import clip

CHOICES_KEY: Final = "signalbox.choices"
"""Key of an event's content that holds what may be chosen by it."""
CHOICE_MAX_CHARS: Final = 64
DENIAL_MAX_CHARS: Final = 1_000
VARIATION: Final = "\ufe0f"
"""Asks for the coloured form of an emoji: clients write it or leave it out."""
EMOJI: Final[Mapping[Choice, str]] = {
    Choice.APPROVE: "✅",
    Choice.DENY: "❌",
    Choice.EDIT: "✏️",
    Choice.WHY: "❓",
    Choice.CONVERSATION: "🔁",
    Choice.ALWAYS: "♾️",
    Choice.ALL: "☑️",
    Choice.UNDO: "↩️",
    Choice.DONE: "👍",
    Choice.AGAIN: "🔄",
    Choice.SKIP: "⏭️",
    Choice.USER: "🙂",
    Choice.NO: "🚫",
    Choice.OTHER: "👥",
    Choice.VIEWER: "👁️",
    Choice.OPERATOR: "🛠️",
    Choice.FIRST: "1️⃣",
    Choice.SECOND: "2️⃣",
    Choice.THIRD: "3️⃣",
    Choice.FOURTH: "4️⃣",
    Choice.TEXT: "💬",
}
FIRST_HAND: Final = frozenset(
    {
        Choice.APPROVE,
        Choice.DENY,
        Choice.DONE,
        Choice.AGAIN,
        Choice.SKIP,
        Choice.USER,
        Choice.NO,
        Choice.FIRST,
        Choice.SECOND,
        Choice.THIRD,
        Choice.FOURTH,
    }
)
"""Choices whose emoji we put under the card ourselves, to be pressed: each is an event, and homeservers allow few a minute."""
CODE_ALPHABET: Final = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
"""Letters and digits that are not mistaken for each other."""
CODE_LENGTH: Final = 4
WHOLE_ID: Final = re.compile(r"[0-9A-Za-z_-]{16,32}")
WRITTEN: Final = re.compile(r"[!/]?(?P<word>[a-z]+)\b[ \t]*(?P<rest>.*)", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Offer:
    """One choice on a card. `emoji` is empty where another choice of the card has it."""

    approval: ApprovalId
    choice: str
    label: str
    emoji: str

    @property
    def code(self) -> str:
        return code_of(self.approval)

    @property
    def is_pressed_first(self) -> bool:
        return bool(self.emoji) and self.choice in FIRST_HAND


def offers(buttons: Sequence[Button]) -> tuple[Offer, ...]:
    taken = set[str]()
    made = list[Offer]()
    for button in buttons:
        emoji = EMOJI.get(button.choice, "")
        made.append(
            Offer(
                button.approval_id, button.choice, clip(button.label, CHOICE_MAX_CHARS), "" if emoji in taken else emoji
            )
        )
        taken.add(emoji)
    return tuple(made)


def as_json(made: Iterable[Offer]) -> list[list[str]]:
    return [[offer.approval, offer.choice, offer.label, offer.emoji] for offer in made]


def offered(content: Mapping[str, Any]) -> tuple[Offer, ...]:
    """Choices of a card of ours; none where it is no card."""
    told = content.get(CHOICES_KEY)
    rows = told if isinstance(told, list) else []
    return tuple(
        Offer(ApprovalId(str(row[0])), str(row[1]), str(row[2]), str(row[3]))
        for row in rows
        if isinstance(row, list) and len(row) == 4
    )


def code_of(approval: str) -> str:
    """Four letters by which people name a question: made from its id, so that every card of it has the same."""
    number = int.from_bytes(sha256(approval.encode()).digest()[:8], "big")
    return "".join(CODE_ALPHABET[number >> 5 * place & 31] for place in range(CODE_LENGTH))


def hint(made: Sequence[Offer]) -> str:
    """The lines of a card that say how to choose, as Markdown; a question of its own for each approval of a list."""
    lines = list[str]()
    for approval in dict.fromkeys(offer.approval for offer in made):
        of_it = [offer for offer in made if offer.approval == approval]
        pressed = " · ".join(f"{offer.emoji} {_plain(offer.label)}".strip() for offer in of_it)
        first, *others = of_it
        words = " / ".join(f"`{offer.choice} {offer.code}`" for offer in (first, *others[:1]))
        how = say("React with one of these, or write {words}", words=words)
        lines.append(f"{pressed}  \n{how}" if first.emoji else f"{pressed}: {words}")
    return "\n\n".join(lines)


def _plain(label: str) -> str:
    """A label as Markdown that shows it as it is."""
    return re.sub(r"([\\`*_{}\[\]<>()#+\-.!|~])", r"\\\1", label)


def bare(emoji: str) -> str:
    return emoji.replace(VARIATION, "")


IS_CHOICE: Final = frozenset(bare(emoji) for emoji in EMOJI.values())
"""Emoji that may be a choice, without the selector of their form."""


def pressed(made: Sequence[Offer], emoji: str) -> Offer | None:
    """The choice that a reaction is."""
    return next((offer for offer in made if offer.emoji and bare(offer.emoji) == bare(emoji)), None)


@dataclass(frozen=True, slots=True)
class Written:
    """A choice in words: `approve K7Q2`, or `deny K7Q2 too risky`. `code` is what stands behind the word."""

    word: str
    code: str
    rest: str


def written(text: str) -> Written | None:
    """The choice that words may be; None for words that surely are none."""
    found = WRITTEN.fullmatch(text.strip())
    if found is None or found["word"].lower() not in list(Choice):
        return None
    code, _, rest = found["rest"].partition(" ")
    return Written(found["word"].lower(), code.strip(".,:;`"), rest.strip()[:DENIAL_MAX_CHARS])


def named(wish: Written, made: Sequence[Offer]) -> Offer | None:
    """The choice of a card that words with its code name."""
    return next((one for one in made if one.choice == wish.word and wish.code.upper() == one.code), None)


def answered(text: str, made: Sequence[Offer]) -> tuple[Offer, str] | None:
    """The choice that an answer to a card is, and the reason behind it: a word or a label, without the code."""
    whole = text.strip()
    if by_label := next((one for one in made if one.label.casefold() == whole.casefold()), None):
        return by_label, ""
    if (wish := written(whole)) is None:
        return None
    if with_code := named(wish, made):
        return with_code, wish.rest
    approvals = {offer.approval for offer in made}
    plain = next((one for one in made if one.choice == wish.word), None) if len(approvals) == 1 else None
    reason = f"{wish.code} {wish.rest}".strip()
    return (plain, reason) if plain and (not reason or plain.choice == Choice.DENY) else None


def whole_id(wish: Written) -> str:
    """An approval's id written in full, as programs do; it may be forged, as any press may."""
    return wish.code if WHOLE_ID.fullmatch(wish.code) else ""
