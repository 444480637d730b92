"""All that the program may come to load, for `tests.fakes.forked`. Nothing in it may have begun a thread."""

import gc
import os
import threading
from importlib import import_module
from typing import Final

from runtime.models.lean import parts
from runtime.models.litellm_loading import VARIABLES

LATE: Final = (
    "adapters.discord.adapter",
    "adapters.slack.adapter",
    "adapters.telegram.adapter",
    "adapters.web.adapter",
    "alembic.command",
    "asyncpg",
    "bot.server.app",
    "bot.backup.make",
    "bot.backup.restore",
    "bot.terminal.conversation",
    "bot.cli.root",
    "bot.terminal.chat",
    "bot.operator.client",
    "bot.doctor.examine",
    "bot.server.process",
    "bot.wizard.steps",
    "bot.wizard.write",
    "runtime.store.sql.postgres",
    "tests.fakes.channel",
    "tests.fakes.discord",
    "tests.fakes.oauth",
    "tests.fakes.slack",
    "tests.fakes.telegram",
    "tests.faults.poison",
    "tests.soak.app",
)

for _name in VARIABLES:
    os.environ[_name] = "True"  # as `bot.settings.settings` has it before LiteLLM is loaded

for _name in LATE:
    import_module(_name)
parts.lean()  # LiteLLM as the program loads it; each sets it up

assert threading.active_count() == 1, threading.enumerate()

gc.freeze()  # else each of the others walks through all of it, and so has a copy of its own
