"""`signalbox backup` and `signalbox restore`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bot.node.invocation import as_called
from bot.terminal.options import AsJson, ConfigFile, run, settings_of
from bot.terminal.output import clean, show_json

if TYPE_CHECKING:
    from bot.backup.make import Made
    from bot.backup.restore import Restored

BackupFile = Annotated[Path, typer.Argument(metavar="FILE", help="The backup.", show_default=False)]
DATABASE = "database_url"


def add_to(cli: typer.Typer) -> None:
    cli.command()(backup)
    cli.command()(restore)


def backup(
    context: typer.Context,
    file: BackupFile,
    check: Annotated[bool, typer.Option("--check", help="Don't make a backup; check whether FILE is sound.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace FILE if it exists.")] = False,
    with_secrets: Annotated[
        bool, typer.Option("--with-secrets", help="Include the sealed secrets file, still sealed.")
    ] = False,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Back up everything into one file and verify it, whether or not Signalbox is running."""
    from bot.backup import make

    if check:
        made = make.check(file.absolute())
    else:
        settings = settings_of(context, config).with_secrets(DATABASE)
        made = run(make.make(settings, file.absolute(), force=force, with_secrets=with_secrets))
    if as_json:
        show_json(_view(made))
        return
    typer.echo(("Sound: " if check else "") + _sentence(made))
    for left_out in made.manifest.left_out:
        typer.echo(f"Left out: {clean(left_out)}", err=True)


def restore(
    context: typer.Context,
    file: BackupFile,
    force: Annotated[
        bool, typer.Option("--force", help="Replace what is there. The old data is kept beside it under another name.")
    ] = False,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Restore a backup into an empty place, while Signalbox is stopped. Anything uncertain is checked or asked again."""
    from bot.backup.restore import restore

    settings = settings_of(context, config).with_secrets(DATABASE)
    restored = run(restore(settings, file.absolute(), force=force))
    if as_json:
        show_json(_restored_view(restored))
        return
    _tell(restored)


def _sentence(made: Made) -> str:
    about = made.manifest
    rows, files = sum(table.rows for table in about.tables.values()), _files(made)
    return (
        f"{made.path} holds {_count(rows, 'row')} and {_count(files, 'file')} from {about.taken_at:%Y-%m-%d %H:%M:%S} UTC "
        f"({made.size / 1e6:,.1f} MB), made by signalbox {about.program}."
    )


def _count(number: int, word: str, several: str = "") -> str:
    return f"{number:,} {word if number == 1 else several or f'{word}s'}"


def _files(made: Made) -> int:
    return sum(name.startswith("workspaces/") and not name.endswith("/") for name in made.manifest.members)


def _tell(restored: Restored) -> None:
    about = restored.manifest
    typer.echo(
        f"Restored the state of {about.taken_at:%Y-%m-%d %H:%M:%S} UTC (made by signalbox {about.program}), with "
        f"{_count(restored.files, 'file')}."
    )
    if after := restored.aftermath:
        typer.echo(
            f"What happened since is unknown. The next start takes care of it: {_count(after.deliveries, 'message')} to check before sending, "
            f"{_count(after.questions, 'question')} to ask again, {_count(after.runs, 'piece')} of work to continue. "
            + as_called("Start it: signalbox run")
        )
        if after.grants:
            typer.echo(
                f"{_count(after.grants, 'grant')} ended, because the backup can't tell what was revoked since. Their calls need approval again. "
                + as_called("To see them: signalbox grants list --all")
            )
        if after.people:
            typer.echo(f"Forgotten again: {_count(after.people, 'person', 'people')} who had been forgotten since.")
        if after.forgotten:
            typer.echo(f"Left out: {_count(after.forgotten, 'memory', 'memories')} that people had forgotten since.")
    for path in restored.unread:
        typer.echo(f"{path} can't be read, so memories and people that were forgotten since the backup may be back.")
    for path in restored.kept:
        typer.echo(f"Kept what was there before: {path}")


def _view(made: Made) -> dict[str, Any]:
    about = made.manifest
    return {
        "file": str(made.path),
        "id": about.id,
        "taken_at": about.taken_at.isoformat(),
        "program": about.program,
        "revision": about.revision,
        "engine": about.engine,
        "bytes": made.size,
        "files": _files(made),
        "rows": {name: table.rows for name, table in about.tables.items()},
        "left_out": list(about.left_out),
    }


def _restored_view(restored: Restored) -> dict[str, Any]:
    after = restored.aftermath
    return {
        "id": restored.manifest.id,
        "taken_at": restored.manifest.taken_at.isoformat(),
        "files": restored.files,
        "messages_looked_for": after.deliveries if after else None,
        "questions_asked_again": after.questions if after else None,
        "runs_resumed": after.runs if after else None,
        "grants_ended": after.grants if after else None,
        "memories_left_out": after.forgotten if after else None,
        "people_forgotten_again": after.people if after else None,
        "kept": [str(path) for path in restored.kept],
    }
