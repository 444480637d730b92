"""Forms as the process would make them: a reason for a denial, else one text; `words` in their place when they are set."""

from __future__ import annotations

from dataclasses import dataclass, field

from runtime.contract import REASON, ApprovalId, Choice, Field, Form, Identity


@dataclass
class FakeForms:
    words: str = ""
    text: str = "make deploy"
    fields: tuple[Field, ...] = ()
    asked: list[tuple[ApprovalId, Choice, Identity]] = field(default_factory=list)

    async def __call__(self, approval: ApprovalId, choice: Choice, actor: Identity) -> Form | str:
        self.asked.append((approval, choice, actor))
        if self.words:
            return self.words
        if choice is Choice.DENY:
            return Form(approval, choice, "Deny", (Field(REASON, "Why not?", lines=True),), send="Deny it")
        usual = (Field("argument", "The changed command", self.text, lines=True),)
        return Form(
            approval, choice, "Edit the call", self.fields or usual, "It runs exactly as you write it.", "Run it"
        )
