"""`signalbox`: all commands, and how errors end one. An operator's mistake is a sentence, never a traceback."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Annotated, Any, Final

import typer
from typer.core import TyperGroup
from typer.main import get_group

from bot.node.invocation import as_called
from bot.terminal.misuse import NoArgsIsHelpError, UsageError, as_typed, told
from bot.terminal.options import ConfigFile, mask_of
from bot.terminal.start_options import EnvFile
from runtime.errors import BotError, ConfigError

EXIT_FAILED: Final = 1
WRONG_USE: Final = 2
INTERRUPTED: Final = 130

# The module of each command, in the order of `--help`. It is imported when somebody gives the command or asks for help:
# a process that serves keeps its memory free of all others.
MODULES: Final[Mapping[str, str]] = {
    "run": "run",
    "serve": "run",
    "reload": "run",
    "service": "support.service",
    "init": "init",
    "onboard": "support.onboarding",
    "chat": "chat",
    "tui": "support.tui",
    "ask": "chat",
    "acp": "mcp.editors",
    "trace": "trace",
    "context": "inspect",
    "budgets": "inspect",
    "prompt": "inspect",
    "report": "report",
    "doctor": "inspect",
    "logs": "support.commands",
    "support": "support.commands",
    "nodes": "support.nodes",
    "version": "inspect",
    "migrate": "support.migrating",
    "conversations": "support.conversations",
    "backup": "backup",
    "restore": "backup",
    "approvals": "approvals",
    "grants": "approvals",
    "agents": "agents",
    "skills": "skills.commands",
    "policy": "policy",
    "guard": "safety.guard",
    "interceptors": "safety.interceptors",
    "models": "models.catalogue",
    "outbox": "outbox",
    "schedules": "schedules",
    "tasks": "work.tasks",
    "processes": "work.processes",
    "children": "work.children",
    "workflows": "work.workflows",
    "harness": "work.harness",
    "goals": "work.goals",
    "triggers": "work.triggers",
    "hands": "hands.commands",
    "memory": "work.memory",
    "knowledge": "work.knowledge",
    "tools": "work.tools",
    "mcp": "mcp.servers",
    "login": "safety.logins",
    "people": "people",
    "tokens": "safety.tokens",
    "secrets": "safety.secrets",
    "config": "inspect",
    "audit": "inspect",
    "events": "events.commands",
    "checkpoints": "events.commands",
    "feedback": "events.commands",
}


class Commands(TyperGroup):
    """Ends a command in error or misuse with a sentence on standard error."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(MODULES)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name in MODULES and cmd_name not in self.commands:
            part = typer.Typer()
            import_module(f"bot.cli.{MODULES[cmd_name]}").add_to(part)
            self.commands.update(get_group(part).commands)
        return super().get_command(ctx, cmd_name)

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        try:
            return super().make_context(info_name, args, parent, **extra)
        except NoArgsIsHelpError:
            raise
        except UsageError as error:
            raise _misused(error.ctx or typer.Context(self, info_name="signalbox"), error) from None
        except ConfigError as error:
            raise _ended(typer.Context(self, info_name="signalbox"), error, WRONG_USE) from None

    def invoke(self, ctx: Any) -> Any:  # typer's own copy of click's Context has no public name
        try:
            return super().invoke(ctx)
        except NoArgsIsHelpError:
            raise
        except UsageError as error:
            raise _misused(ctx, error) from None
        except ConfigError as error:
            raise _ended(ctx, error, WRONG_USE) from None
        except BotError as error:
            raise _ended(ctx, error, EXIT_FAILED) from None
        except KeyboardInterrupt:
            raise typer.Exit(INTERRUPTED) from None


cli = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Signalbox: an agent that people talk to in chats, and that asks before it does anything risky.",
)


def _version(asked: bool) -> None:
    if asked:
        from bot.node.version import VERSION

        typer.echo(f"signalbox {VERSION}")
        raise typer.Exit


Version = Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")]


@cli.callback()
def _shared(context: typer.Context, config: ConfigFile = None, env: EnvFile = None, version: Version = False) -> None:
    context.obj = config


def _ended(context: typer.Context, error: BotError, code: int) -> typer.Exit:
    words = as_typed(mask_of(context)(str(error)), context)
    typer.echo(f"signalbox: {as_called(words)}", err=True)
    return typer.Exit(code)


def _misused(context: Any, error: UsageError) -> typer.Exit:
    typer.echo(f"signalbox: {told(error, context)}", err=True)
    return typer.Exit(WRONG_USE)
