"""`signalbox`: all commands, and how errors end one. An operator's mistake is a sentence, never a traceback."""

from __future__ import annotations

from typing import Annotated, Any, Final

import typer
from typer.core import TyperGroup

from bot.cli import (
    approvals,
    backup,
    chat,
    init,
    inspect,
    outbox,
    people,
    reload,
    report,
    run,
    schedules,
    secrets,
    trace,
)
from bot.node.invocation import as_called
from bot.terminal.misuse import NoArgsIsHelpError, UsageError, as_typed, told
from bot.terminal.options import ConfigFile, mask_of
from runtime.errors import BotError, ConfigError

DONE: Final = 0
FAILED: Final = 1
WRONG_USE: Final = 2
INTERRUPTED: Final = 130


class Commands(TyperGroup):
    """Ends a command that raises one of our errors, or is used wrongly, with a sentence on standard error."""

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        try:
            return super().make_context(info_name, args, parent, **extra)
        except NoArgsIsHelpError:
            raise
        except UsageError as error:
            raise _misused(error.ctx or typer.Context(self, info_name="signalbox"), error) from None

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
            raise _ended(ctx, error, FAILED) from None
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
def _shared(context: typer.Context, config: ConfigFile = None, version: Version = False) -> None:
    context.obj = config


def _ended(context: typer.Context, error: BotError, code: int) -> typer.Exit:
    words = as_typed(mask_of(context)(str(error)), context)
    typer.echo(f"signalbox: {as_called(words)}", err=True)
    return typer.Exit(code)


def _misused(context: Any, error: UsageError) -> typer.Exit:
    typer.echo(f"signalbox: {told(error, context)}", err=True)
    return typer.Exit(WRONG_USE)


run.add_to(cli)
reload.add_to(cli)
init.add_to(cli)
chat.add_to(cli)
cli.add_typer(approvals.commands, name="approvals")
cli.add_typer(outbox.commands, name="outbox")
cli.add_typer(schedules.commands, name="schedules")
cli.add_typer(people.commands, name="people")
cli.add_typer(secrets.commands, name="secrets")
trace.add_to(cli)
report.add_to(cli)
inspect.add_to(cli)
backup.add_to(cli)
