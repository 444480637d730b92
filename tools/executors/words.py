"""Words for people whose agent is a program that failed."""

from __future__ import annotations

from typing import Final

from runtime.text.words import marked

PROGRAM_NOT_STARTED: Final = marked(
    "The program behind {agent} can't be started. An operator finds the reason in the log."
)
PROGRAM_ENDED: Final = marked("The program behind {agent} ended in the middle of its answer. Please ask again.")
PROGRAM_ENDED_AT_ONCE: Final = marked(
    "The program behind {agent} ended without an answer, each time. An operator finds the reason in the log."
)
PROGRAM_SILENT: Final = marked("The program behind {agent} gave no sign for {seconds} seconds, so I stopped it.")
PROGRAM_SAID_TOO_MUCH: Final = marked(
    "The program behind {agent} said more than {most} MB in one answer, so I stopped it."
)
PROGRAM_UNREADABLE: Final = marked("The program behind {agent} answered with something that I can't read.")
STUB_WITHOUT_ANSWER: Final = marked("The answers of {agent} have none that fits here.")
STUB_UNREADABLE: Final = marked("The answers of {agent} can't be read. An operator finds the reason in the log.")
