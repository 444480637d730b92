"""Prompts in the settings: texts, and files of text."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

from pydantic import AfterValidator

from runtime.settings.types import TextFile
from runtime.templating.prompts import PromptFault, prompt_of

PROMPTS: Final = Path(__file__).parents[3] / "config" / "prompts"


def _prompt(text: str, where: str = "") -> str:
    """The same. Errors: ValueError says what is wrong in it."""
    try:
        prompt_of(text)
    except PromptFault as fault:
        raise ValueError(f"a prompt that can be filled in; {where}{fault}") from None
    return text


def _prompt_file(path: Path) -> Path:
    _prompt(path.read_text(encoding="utf-8"), f"{path}, ")
    return path


PromptFile = Annotated[TextFile, AfterValidator(_prompt_file)]
PromptText = Annotated[str, AfterValidator(_prompt)]
