"""The steps in their order. A channel joins by a row of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from bot.plugins.channels import BUILT_IN
from bot.wizard.channels import ask_channels
from bot.wizard.dialogue import Dialogue
from bot.wizard.draft import Draft
from bot.wizard.model import ask_model
from bot.wizard.place import ask_owner, ask_place, ask_port


@dataclass(frozen=True, slots=True)
class Step:
    """`ask` fills the draft in; `about` tells beforehand what it is good for."""

    title: str
    about: str
    ask: Callable[[Draft, Dialogue], None]


WIZARD_STEPS: Final[Sequence[Step]] = (
    Step("Data", "The database, the conversations' files and the sealed secrets live in one folder.", ask_place),
    Step(
        "Model",
        '"demo" is built in and needs nothing. Others are named as LiteLLM does, such as openai/gpt-4o-mini,\n'
        "anthropic/claude-sonnet-4-5 or ollama/llama3. The one you choose is asked for one word, as a test.",
        ask_model,
    ),
    Step(
        "Channels",
        f"Where people write to the agent, besides its own web page: {', '.join(one.title for one in BUILT_IN.values())}. "
        "Each account\n"
        "is tested. You can add more later, in the settings file.",
        ask_channels,
    ),
    Step("You", "The first person owns everything, and lets others in.", ask_owner),
    Step(
        "Web page",
        "You talk to the agent there, and approve what it asks for. Only this machine can open it.",
        ask_port,
    ),
)


def walk(draft: Draft, dialogue: Dialogue, steps: Sequence[Step] = WIZARD_STEPS) -> None:
    """All of them, in order."""
    for number, step in enumerate(steps, 1):
        dialogue.begin(f"{number}/{len(steps)} {step.title}", step.about)
        step.ask(draft, dialogue)
