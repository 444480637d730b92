"""All tools of memory."""

from __future__ import annotations

from runtime.contract import Tool
from runtime.contract.memory.facts import MemoryBook
from runtime.contract.memory.values import StateBook
from tools.remembering.memories import memory_tools
from tools.remembering.messages import message_tools
from tools.remembering.relations import relation_tools
from tools.remembering.values import state_tools


def remembering_tools(book: MemoryBook, values: StateBook) -> list[Tool]:
    return [*memory_tools(book), *relation_tools(book), *message_tools(book), *state_tools(values)]
