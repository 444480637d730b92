"""Forms of tools whose words are not ours."""

from __future__ import annotations

from typing import Protocol


class Forms(Protocol):
    """The form in which each of them was accepted: the first ever seen, then those that a person said yes to."""

    async def accepted_form(self, tool: str, form: str) -> str:
        """The accepted form; that is `form` where none was ever seen."""

    async def see_form(self, tool: str, form: str) -> str:
        """`tool` is offered in `form`: what changed, in words, where nobody was told yet; else empty."""

    async def told_form(self, tool: str, form: str) -> None:
        """Operators were told of this form."""

    async def accept_form(self, tool: str, form: str, by: str) -> None:
        """A person said yes to a call of it in this form."""
