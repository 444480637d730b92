"""Tokens of chat platforms told apart by their form, and what is wrong with one in the wrong place. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from runtime.contract import TokenForm


def kind_of(text: str, known: Iterable[TokenForm]) -> TokenForm | None:
    return next((token for token in known if token.form.fullmatch(text)), None)


def fault_of(text: str, wanted: TokenForm, known: Iterable[TokenForm]) -> str | None:
    """The fault of `text` where `wanted` belongs, as words for what is expected; never the text itself."""
    found = kind_of(text, known)
    if found is wanted or (found is None and wanted.vague):
        return None
    return f"{wanted.kind} ({wanted.looks}){_instead(text, found, wanted)}"


def _instead(text: str, found: TokenForm | None, wanted: TokenForm) -> str:
    if found is not None:
        return f"; this is {found.kind}"
    if text.lower().startswith(("bot ", "bearer ")):
        return "; leave out the word before it"
    if text != text.strip() or any(letter.isspace() for letter in text):
        return "; there are blanks or line ends in it"
    if wanted.begins and wanted.begins.match(text):
        return f"; this begins like one, but {len(text)} characters can't be all of it: copy it again"
    return ""
