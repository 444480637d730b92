"""The answer that a route gives in place of what was asked."""

from __future__ import annotations

from runtime.errors import BotError


class Refusal(BotError):
    """A request that is not served: the HTTP `status`, and a sentence for the person that says what to do."""

    def __init__(self, status: int, sentence: str, **headers: str) -> None:
        """`headers` go with the answer; an underscore in their names stands for a dash."""
        super().__init__(sentence)
        self.status = status
        self.sentence = sentence
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}
        self.link: tuple[str, str] | None = None
        self.field = ""

    def of_field(self, field: str) -> Refusal:
        """The same, and the field of a form that is wrong; empty for none of them."""
        self.field = field
        return self

    def with_link(self, path: str, words: str) -> Refusal:
        """The same, and a link for whoever reads it as a page."""
        self.link = (path, words)
        return self
