"""The words of a tool."""

from __future__ import annotations

from runtime.contract import (
    Address,
    CallKey,
    CardChange,
    CardContext,
    CardFiles,
    CardNote,
    CardPart,
    CardText,
    CardValue,
    Carries,
    Effect,
    Flow,
    Json,
    Person,
    Reads,
    RunId,
    SessionKey,
    Tool,
    ToolContext,
    ToolSpec,
    Undo,
)
from runtime.errors import ToolError, ToolFailed, ToolRetry
from tools.kit.declare import tool
from tools.kit.plugin import TOOL_INTERFACE, ToolPlugin

__all__ = [
    "TOOL_INTERFACE",
    "Address",
    "CallKey",
    "CardChange",
    "CardContext",
    "CardFiles",
    "CardNote",
    "CardPart",
    "CardText",
    "CardValue",
    "Carries",
    "Effect",
    "Flow",
    "Json",
    "Person",
    "Reads",
    "RunId",
    "SessionKey",
    "Tool",
    "ToolContext",
    "ToolError",
    "ToolFailed",
    "ToolPlugin",
    "ToolRetry",
    "ToolSpec",
    "Undo",
    "tool",
]
