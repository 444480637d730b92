"""`signalbox init`: from nothing to a settings file that works."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from bot.node.invocation import called
from bot.terminal.grouped import grouped
from bot.terminal.options import ConfigFile, asking, run
from bot.terminal.output import tell
from runtime.errors import ConfigError
from runtime.text.naming import listed

if TYPE_CHECKING:
    from bot.secrets.file import Opened, SealedFile
    from bot.wizard.dialogue import Dialogue
    from bot.wizard.draft import Draft, Flags
    from bot.wizard.presets.presets import Preset

INTERRUPTED: Final = 130


def add_to(cli: typer.Typer) -> None:
    cli.command()(grouped(init))


ModelName = Annotated[str | None, typer.Option("--model", metavar="NAME", help='Model: "demo" or a LiteLLM name.')]
ApiBase = Annotated[str | None, typer.Option("--api-base", metavar="URL", help="Address of the model's server.")]
KeyEnv = Annotated[
    str | None,
    typer.Option("--key-env", metavar="NAME", help="Environment variable with the model's key; needed at every start."),
]
KeyStdin = Annotated[bool, typer.Option("--key-stdin", help="Read the model's key from standard input and seal it.")]
DataDir = Annotated[str | None, typer.Option("--data-dir", metavar="FOLDER", help="Where the data lives.")]
DatabaseUrl = Annotated[
    str | None,
    typer.Option("--database-url", metavar="URL", help="Address of a database, instead of the built-in one."),
]
Owner = Annotated[str | None, typer.Option("--owner", metavar="NAME", help="The first person.")]
Port = Annotated[int | None, typer.Option("--port", help="Port of the web page.")]
KeyFile = Annotated[bool, typer.Option("--key-file", help="Lock sealed secrets with a key file.")]
Channels = Annotated[
    list[str] | None,
    typer.Option(
        "--channel",
        metavar="NAME",
        help="A channel, such as telegram or slack. Its tokens come from their usual variables. Repeatable.",
    ),
]
Servers = Annotated[list[str] | None, typer.Option("--channel-server", metavar="CHANNEL=URL", hidden=True)]
PresetName = Annotated[
    str | None,
    typer.Option(
        "--preset",
        metavar="NAME",
        help="Begin with agents, skills, schedules and rules: personal, team, ops, coding or support.",
    ),
]
NoTry = Annotated[bool, typer.Option("--no-try", help="Don't test the model or the channels.")]
Yes = Annotated[bool, typer.Option("--yes", help="Ask nothing: use flags and defaults.")]
Force = Annotated[bool, typer.Option("--force", help="Replace an existing settings file; the old one is kept.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerOptions:
    """Options that answer what would be asked, for `init` and for `onboard`."""

    model: ModelName = None
    api_base: ApiBase = None
    key_env: KeyEnv = None
    key_stdin: KeyStdin = False
    data_dir: DataDir = None
    database_url: DatabaseUrl = None
    owner: Owner = None
    port: Port = None
    key_file: KeyFile = False
    channel: Channels = None
    preset: PresetName = None
    yes: Yes = False

    @property
    def alone(self) -> bool:
        """True where nothing is to be asked: somebody said so, or the input holds a key."""
        return self.yes or self.key_stdin

    def flags(self, *, servers: Sequence[str] = (), tries: bool = True) -> Flags:
        """Answers of the command line. Errors: ConfigError."""
        from bot.wizard.draft import Flags
        from bot.wizard.presets.presets import preset_of

        return Flags(
            model=self.model,
            api_base=self.api_base,
            key_env=self.key_env,
            key=_key_of_input() if self.key_stdin else None,
            data_dir=self.data_dir,
            database_url=self.database_url,
            owner=self.owner,
            port=self.port,
            key_file=self.key_file,
            try_model=tries,
            channels=tuple(dict.fromkeys(self.channel or [])),
            servers=dict(map(_pair, servers)),
            try_channels=tries,
            preset=preset_of(self.preset) if self.preset else None,
        )


def init(
    context: typer.Context,
    answers: AnswerOptions,
    channel_server: Servers = None,
    no_try: NoTry = False,
    force: Force = False,
    config: ConfigFile = None,
) -> None:
    """Set up Signalbox: asks for data, model, channels, first person and port, tests them, and writes signalbox.toml.

    Each answer can be given as a flag. With --yes, or without a terminal, nothing is asked. Nothing is written before the end.
    """
    flags = answers.flags(servers=channel_server or (), tries=not no_try)
    file = (config or context.find_root().obj or Path("signalbox.toml")).absolute()
    try:
        set_up(file, flags, force=force, alone=answers.alone)
    except (typer.Abort, KeyboardInterrupt):
        tell("\nStopped. No settings were written.")
        raise typer.Exit(INTERRUPTED) from None


def _pair(given: str) -> tuple[str, str]:
    channel, equals, url = given.partition("=")
    if not equals:
        raise ConfigError("--channel-server: write CHANNEL=URL.")
    return channel, url


def set_up(file: Path, flags: Flags, *, force: bool, alone: bool, tells_next: bool = True) -> None:
    """Ask, or take the flags, and write everything. Errors: BotError; then nothing was written."""
    from bot.wizard.dialogue import AtTerminal, ByFlags
    from bot.wizard.presets.presets import write_agents
    from bot.wizard.steps import walk
    from bot.wizard.write import add_owner, require_free, seal_secrets, write_settings

    require_free(file, force=force)
    draft = _draft(file, flags)
    dialogue: Dialogue = ByFlags() if alone or asking() is None else AtTerminal()
    walk(draft, dialogue)
    with_key = flags.key_file or isinstance(dialogue, ByFlags)
    seal_secrets(draft, lambda sealed: _unlocked(sealed, draft, with_key=with_key))
    trouble = run(add_owner(draft))
    kept = write_agents(flags.preset, file.parent) if flags.preset else []
    write_settings(draft)
    _tell_the_end(draft, trouble, tells_next=tells_next)
    if flags.preset:
        _tell_of_preset(flags.preset, kept)


def _tell_of_preset(preset: Preset, kept: Sequence[str]) -> None:
    made = [f"agents/{name}" for name in preset.agents if name not in kept]
    typer.echo(
        f"\nThe preset {preset.name} is in them{f', and in {listed(made)}' if made else ''}: read and change them."
    )
    if kept:
        typer.echo(f"{listed([f'agents/{name}' for name in kept])} was there already and stays as it was.")


def _draft(file: Path, flags: Flags) -> Draft:
    from bot.settings.settings import environment, keyring_of
    from bot.wizard.draft import Draft

    variables = environment()
    return Draft(flags, file, variables, keyring_of(variables, None, asking()))


def _unlocked(sealed: SealedFile, draft: Draft, *, with_key: bool) -> Opened:
    """Open the sealed file, or make it: with the passphrase that is set, else one that is asked for, or a key file."""
    from bot.terminal.sealing import new_lock

    if sealed.exists():
        return sealed.open(draft.keyring)
    given = draft.keyring.given()
    return sealed.make(*new_lock(sealed.path, draft.keyring, key_file=with_key and given is None))


def _key_of_input() -> str:
    if key := sys.stdin.read(1 << 16).strip():
        return key
    raise ConfigError("--key-stdin: standard input is empty.")


def _what_opens(draft: Draft) -> str:
    from bot.secrets.file import SealedFile
    from bot.secrets.sealed import Lock

    if SealedFile(draft.sealed).lock() is Lock.KEY_FILE:
        return f"The key in {draft.keyring.key_file} opens it."
    return "Each start needs the passphrase: type it, or see docs/secrets.md for other ways."


def _tell_the_end(draft: Draft, trouble: str | None, *, tells_next: bool) -> None:
    typer.echo(f"\nSettings are in {draft.file}.")
    if draft.secrets:
        typer.echo(f"{' and '.join(draft.secrets)}: sealed in {draft.sealed}. {_what_opens(draft)}")
    if trouble:
        tell(f"{draft.owner} couldn't be added: {trouble}\nThe first start adds an owner named owner instead.")
    elif draft.owner:
        typer.echo(f"{draft.owner} is the owner; the first start prints their link.")
    where = "" if draft.file == Path("signalbox.toml").absolute() else f" --config {draft.file}"
    if tells_next:
        typer.echo("\nNext:")
        typer.echo(f"  {called()} doctor{where}   checks that everything works")
        typer.echo(f"  {called()} run{where}      starts it")
    if draft.accounts:
        _tell_of_pairing(draft, where)


def _tell_of_pairing(draft: Draft, where: str) -> None:
    """Print the steps by which the first person is paired on the channels."""
    from bot.plugins.channels import known_channels

    titles = dict.fromkeys(known_channels()[str(table["channel"][0])].title for table in draft.accounts)
    name = shlex.quote(draft.owner or "owner")
    typer.echo(f"\nThen write to your bot in {' and '.join(titles)}. It sends you a code. Confirm that it's you:")
    typer.echo(f"  {called()} people pair{where} CODE --name {name}")
