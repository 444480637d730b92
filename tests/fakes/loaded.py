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
    "bot.backup.make",
    "bot.backup.restore",
    "bot.cli.root",
    "bot.doctor.examine",
    "bot.metrics.access",
    "bot.metrics.answers",
    "bot.metrics.counting",
    "bot.metrics.listener",
    "bot.metrics.metering",
    "bot.metrics.page",
    "bot.metrics.wrappers",
    "bot.node.service_manager",
    "bot.operator.client",
    "bot.operator.local",
    "bot.operator.operations",
    "bot.server.app",
    "bot.server.process",
    "bot.telemetry.masking",
    "bot.telemetry.wrappers",
    "bot.terminal.chat",
    "bot.terminal.conversation",
    "bot.wiring.memory.announced",
    "bot.wiring.safety.scan",
    "bot.wizard.steps",
    "bot.wizard.write",
    "encodings.ascii",
    "encodings.utf_16_le",
    "markdown_it.presets.commonmark",
    "markdown_it.presets.default",
    "markdown_it.presets.zero",
    "runtime.memory.book",
    "runtime.memory.recalling",
    "runtime.memory.values",
    "runtime.models.demo",
    "runtime.models.vendors",
    "runtime.store.sql.postgres",
    "runtime.timeline.run_events",
    "bot.testing.channel.server",
    "tests.fakes.discord",
    "tests.fakes.new_sqlite",
    "tests.fakes.oauth",
    "bot.testing.openai.server",
    "tests.fakes.slack",
    "tests.fakes.telegram",
    "tests.faults.asked",
    "tests.faults.poison",
    "tests.soak.app",
    "typer._adapters",
    "typer._click.decorators",
)

_threads = set(threading.enumerate())  # in a process of tests those that they left are there before
for _name in VARIABLES:
    os.environ[_name] = "True"  # as `bot.settings.settings` has it before LiteLLM is loaded

for _name in LATE:
    import_module(_name)
parts.lean()  # LiteLLM as the program loads it; each sets it up

assert _threads >= (_now := set(threading.enumerate())), _now - _threads

gc.freeze()  # else each of the others walks through all of it, and so has a copy of its own
