"""`signalbox migrate`: takes over the folder of another bot."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from bot.node.invocation import as_called
from bot.terminal.options import AsJson, ConfigFile, run, settings_of
from bot.terminal.output import clean, show_json, show_rows
from runtime.errors import ConfigError

if TYPE_CHECKING:
    from bot.migration.found import Item
    from bot.migration.migrate import Outcome
    from bot.secrets.file import Opened, SealedFile
    from bot.settings.settings import Settings

PLAN_COLUMNS: Final = {"item": "Item", "name": "Name", "what": "What", "why": "Why"}
ITEMS: Final = "accounts, people, rooms, models, prompt, schedules, skills, memory"


def add_to(cli: typer.Typer) -> None:
    cli.command()(migrate)


def migrate(
    context: typer.Context,
    bot: Annotated[str, typer.Argument(metavar="BOT", help="openclaw, hermes, nanobot or langbot.")],
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Its folder, such as ~/.openclaw.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would be done.")] = False,
    item: Annotated[
        list[str] | None, typer.Option("--item", help=f"Only this: {ITEMS}. Repeatable.", show_default=False)
    ] = None,
    with_secrets: Annotated[
        bool, typer.Option("--with-secrets", help="Also tokens and keys: they are sealed here, and never printed.")
    ] = False,
    key_file: Annotated[
        bool, typer.Option("--key-file", help="Seal them with a key file of your user, without a passphrase.")
    ] = False,
    accept_memory: Annotated[
        bool, typer.Option("--accept-memory", help="Memories count at once, as if you had said them.")
    ] = False,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Take over another bot's accounts, people, rooms, models, prompt, schedules, skills and memories. Its folder stays as it is."""
    from bot.migration.formats.table import format_named
    from bot.migration.migrate import migrate as migrated
    from bot.migration.planning import Wishes

    form, items = format_named(bot), _items(item)
    settings = settings_of(context, config).with_secrets("database_url")
    wishes = Wishes(items, with_secrets, accept_memory)

    def unlock(file: SealedFile) -> Opened:
        return _unlocked(file, settings, key_file=key_file)

    def expect(file: SealedFile) -> None:
        _expected(file, settings, key_file=key_file)

    outcome = run(migrated(settings, form, folder, wishes, unlock, expect, dry_run=dry_run))
    if as_json:
        show_json(outcome.view())
        return
    _tell(outcome)


def _items(given: list[str] | None) -> frozenset[Item]:
    """Errors: ConfigError names those that there are."""
    from bot.migration.found import Item

    wanted = [word.strip() for one in given or () for word in one.split(",")]
    if unknown := [word for word in wanted if word not in set(Item) - {Item.OTHER}]:
        raise ConfigError(f"--item {unknown[0]!r}: there is no such item. There are {ITEMS}.")
    return frozenset(Item(word) for word in wanted) if wanted else frozenset(Item)


def _unlocked(file: SealedFile, settings: Settings, *, key_file: bool) -> Opened:
    from bot.terminal.sealing import new_lock

    keyring = settings.chain.keyring
    if file.exists():
        return file.open(keyring)
    return file.make(*new_lock(file.path, keyring, key_file=key_file))


def _expected(file: SealedFile, settings: Settings, *, key_file: bool) -> None:
    from bot.terminal.sealing import expect_passphrase

    if not (key_file or file.exists()):
        expect_passphrase(file.path, settings.chain.keyring)


def _tell(outcome: Outcome) -> None:
    told = outcome.view()
    show_rows(told["items"], PLAN_COLUMNS, empty=f"There is nothing to take over in {clean(str(outcome.folder))}.")
    for fix in dict.fromkeys(f"{row['name']}: {row['fix']}" for row in told["items"] if row["fix"]):
        typer.echo(as_called(clean(fix)))
    for words in outcome.refused:
        typer.echo(clean(f"Not kept: {words}"))
    if not outcome.plan.changes_anything:
        typer.echo("Nothing is left to take over: all that can be taken is here. Nothing was changed.")
    elif outcome.dry_run:
        typer.echo("Nothing was written. Without --dry-run, this is done in one go, after a backup.")
    else:
        where = f" What was here before is in {outcome.backup}." if outcome.backup else ""
        typer.echo(as_called(f"Done.{clean(where)} Check it: signalbox doctor. Then start it: signalbox run"))
