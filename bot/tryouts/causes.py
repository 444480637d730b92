"""Causes of a failure in two words that people know, for those who set things up."""

from __future__ import annotations

from enum import StrEnum


class CauseWord(StrEnum):
    MODEL_UNAVAILABLE = "model unavailable"
    PROVIDER_UNREACHABLE = "provider unreachable"
    KEY_REFUSED = "key refused"
    QUOTA = "quota"
    TOOL_ERROR = "tool error"
    SANDBOX_MISSING = "sandbox missing"
    DISK = "disk"
    DATABASE = "database"
    PORT_TAKEN = "port taken"
    SETTINGS = "settings"
    PROCESS = "process"
    WAITS = "needs an approval"
    NO_ANSWER = "no answer in time"
    OTHER = "failed"
