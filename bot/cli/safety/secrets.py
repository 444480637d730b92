"""`signalbox secrets`: what is sealed. No command ever prints a value."""

from __future__ import annotations

import re
import sys
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from bot.node.invocation import as_called
from bot.terminal.options import AsJson, ConfigFile, Yes, ask_first, asking, settings_of
from bot.terminal.output import show_json, show_rows, tell
from runtime.errors import BotError, ConfigError

if TYPE_CHECKING:
    from bot.secrets.chain import Member
    from bot.secrets.file import Entries, Opened, SealedFile
    from bot.secrets.sealed import Entry
    from bot.settings.settings import Settings

commands = typer.Typer(no_args_is_help=True, help="Secrets: keep keys and tokens in an encrypted file.")


def add_to(cli: typer.Typer) -> None:
    cli.add_typer(commands, name="secrets")


Name = Annotated[str, typer.Argument(metavar="NAME", help="Written like a variable: OPENAI_API_KEY.")]
ForUser = Annotated[bool, typer.Option("--user", help="Use this user's file, which serves all data folders.")]
FromInput = Annotated[bool, typer.Option("--stdin", help="Read it from standard input, for scripts.")]
WithKeyFile = Annotated[
    bool, typer.Option("--key-file", help="Lock a new file with a key kept in your config folder: no passphrase.")
]
ForHosts = Annotated[
    str,
    typer.Option(
        "--hosts", help="Hosts to which calls may send it, with commas between them: api.example.com,*.example.org."
    ),
]
SECRET_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
SECRET_MAX_CHARS: Final = 64 << 10  # characters; a private key has 3,000
SECRET_COLUMNS: Final = {"name": "Name", "where": "Where", "set_at": "Set", "used_for": "Used for", "hosts": "Hosts"}
BOUND_MIN_CHARS: Final = 8


@commands.command("set")
def set_(
    context: typer.Context,
    name: Name,
    stdin: FromInput = False,
    user: ForUser = False,
    key_file: WithKeyFile = False,
    hosts: ForHosts = "",
    config: ConfigFile = None,
) -> None:
    """Seal a secret, or replace it. Asks for the value without showing it."""
    _check_name(name)
    places = _hosts(hosts)
    settings = settings_of(context, config)
    file = _target(settings, user=user)
    opened = _opened_or_made(file, settings, key_file=key_file)
    value = _value(name, stdin=stdin)
    before = opened.entries.get(name)
    entry = _entry(value, places or (before.hosts if before else ()))
    _check_bound(entry)
    file.change(opened, partial(_replace, name, entry))
    typer.echo(f"{name} is sealed in {file.path}.")
    if entry.hosts:
        typer.echo(f"Calls may send it to {', '.join(entry.hosts)}, as {{{{secret:{name}}}}}.")
    _hint(settings, name, value, opened.entries, bound=bool(entry.hosts))


@commands.command("list")
def list_(context: typer.Context, as_json: AsJson = False, config: ConfigFile = None) -> None:
    """List sealed secrets, where they are, and which variables override them. Values are never shown."""
    settings = settings_of(context, config)
    rows = [row for member in settings.chain.members for row in _rows(settings, member)]
    rows += _in_the_open(settings)
    rows.sort(key=lambda row: row["name"])
    if as_json:
        show_json(rows)
    else:
        there = any(member.file.exists() for member in settings.chain.members)
        empty = "Nothing to show." if there else "Nothing is sealed yet. To begin: signalbox secrets set NAME"
        show_rows(rows, SECRET_COLUMNS, empty=as_called(empty))


@commands.command()
def remove(
    context: typer.Context, name: Name, user: ForUser = False, yes: Yes = False, config: ConfigFile = None
) -> None:
    """Remove a secret, for good."""
    _check_name(name)
    ask_first(yes, f"Remove {name}, for good")
    settings = settings_of(context, config)
    file = _target(settings, user=user)
    opened = file.open(settings.chain.keyring)
    if name not in opened.entries:
        raise BotError(f"There is no {name} in {file.path}. To see what there is: signalbox secrets list")
    file.change(opened, partial(_replace, name, None))
    typer.echo(f"{name} is removed from {file.path}.")
    tell(as_called(f"The leak guard still looks for its value. To end that: signalbox guard forget {name}"))
    _hint_restart(settings)


@commands.command()
def passphrase(
    context: typer.Context,
    stdin: FromInput = False,
    user: ForUser = False,
    key_file: WithKeyFile = False,
    config: ConfigFile = None,
) -> None:
    """Change the passphrase. The secrets stay the same."""
    from bot.secrets.keys import Passphrase
    from bot.secrets.sealed import Lock
    from bot.terminal.sealing import chosen

    settings = settings_of(context, config)
    file, keyring = _target(settings, user=user), settings.chain.keyring
    opened = file.open(keyring)
    if key_file:
        fresh, lock = keyring.key(), Lock.KEY_FILE
    elif stdin:
        fresh, lock = Passphrase(_read_input(), "standard input"), Lock.PASSPHRASE
    elif asking():
        fresh, lock = chosen(file.path, keyring)
    else:
        raise ConfigError("Give the new passphrase on standard input, with --stdin; or use a terminal.")
    file.reseal(opened, fresh, lock)
    typer.echo(f"{file.path} has its new passphrase.")
    _hint_source(opened, lock)


# --------------------------------------------------------------------------------------------------------- the files


def _target(settings: Settings, *, user: bool) -> SealedFile:
    """The file that commands change: the one of the settings, else the data folder's; or the user's."""
    from bot.secrets.chain import Place

    members = {member.place: member.file for member in settings.chain.members}
    if not user:
        return members.get(Place.NAMED) or members[Place.DATA]
    if Place.USER not in members:
        raise ConfigError("--user: there is no home folder here. Leave it out.")
    return members[Place.USER]


def _opened_or_made(file: SealedFile, settings: Settings, *, key_file: bool) -> Opened:
    from bot.terminal.sealing import new_lock

    keyring = settings.chain.keyring
    if file.exists():
        return file.open(keyring)
    return file.make(*new_lock(file.path, keyring, key_file=key_file))


# -------------------------------------------------------------------------------------------------------- the values


def _check_name(name: str) -> None:
    """Check a name; one that is refused is not repeated, since it may be the secret itself."""
    if not SECRET_NAME.fullmatch(name):
        raise ConfigError(
            "NAME: only the name belongs on the command line, in letters, digits and _, such as OPENAI_API_KEY. "
            "The value is asked for. If you gave it just now, take it out of your shell's history."
        )


def _value(name: str, *, stdin: bool) -> str:
    if stdin:
        return _read_input()
    ask = asking()
    if ask is None:
        raise ConfigError(f"Give the value of {name} on standard input, with --stdin; or use a terminal.")
    return _checked(ask(f"Value of {name}"))


def _read_input() -> str:
    try:
        return _checked(sys.stdin.buffer.read(4 * SECRET_MAX_CHARS).decode())
    except UnicodeDecodeError:
        raise ConfigError("Standard input is not UTF-8 text. Nothing was changed.") from None


def _checked(text: str) -> str:
    """Without the blanks and line ends around it, which come along when a key is copied."""
    value = text.strip()
    if not value or len(value) > SECRET_MAX_CHARS:
        reason = "is too long" if value else "is empty"
        raise ConfigError(f"The value {reason}. Nothing was changed.")
    return value


def _replace(name: str, entry: Entry | None, entries: Entries) -> None:
    """The value of before may stand in old text, and still open something: it stays for the leak guard."""
    from bot.secrets.removed import put_aside

    if entry is None or name not in entries or entries[name].value != entry.value:
        put_aside(entries, name, datetime.now(UTC))
    if entry:
        entries[name] = entry


def _entry(value: str, hosts: tuple[str, ...]) -> Entry:
    from bot.secrets.sealed import Entry

    return Entry(value, datetime.now(UTC).replace(microsecond=0), hosts)


def _hosts(text: str) -> tuple[str, ...]:
    from bot.settings.sections.secrets import SECRET_HOST

    hosts = tuple(dict.fromkeys(filter(None, (one.strip().lower() for one in text.split(",")))))
    if wrong := next((one for one in hosts if not SECRET_HOST.fullmatch(one)), None):
        raise ConfigError(f"--hosts: {wrong[:100]!r} is no host, such as api.example.com. Nothing was changed.")
    return hosts


def _check_bound(entry: Entry) -> None:
    """A short value can't be told from other words in what a host answers."""
    if entry.hosts and len(entry.value) < BOUND_MIN_CHARS:
        raise ConfigError(f"A secret for calls has {BOUND_MIN_CHARS} characters or more. Nothing was changed.")


# --------------------------------------------------------------------------------------------------------- the list


def _rows(settings: Settings, member: Member) -> list[dict[str, Any]]:
    from bot.secrets.errors import SecretsError
    from bot.secrets.removed import at_work

    if not member.named and not member.file.exists():
        return []
    try:
        entries = at_work(member.file.open(settings.chain.keyring).entries)
    except SecretsError as error:
        if member.named:
            raise
        tell(f"A sealed file is skipped: {error}")
        return []
    return [
        {
            "name": name,
            "where": str(member.file.path),
            "set_at": entry.set_at.isoformat(),
            "used_for": _used_for(settings, name),
            "hosts": [*settings.secrets.hosts.get(name, ()), *entry.hosts],
        }
        for name, entry in entries.items()
    ]


def _in_the_open(settings: Settings) -> list[dict[str, Any]]:
    """Variables and handed over files that settings ask for: they go before what is sealed."""
    return [
        {
            "name": name,
            "where": where,
            "set_at": "",
            "used_for": _used_for(settings, name),
            "hosts": list(settings.secrets.hosts.get(name, ())),
        }
        for name in dict.fromkeys([*_asked_for(settings), *settings.secrets.hosts])
        if (where := _open_place(settings, name))
    ]


def _open_place(settings: Settings, name: str) -> str:
    """Place where it is found before any sealed file is looked into; "" for nowhere."""
    chain = settings.chain
    if chain.variables.get(name):
        return "the environment"
    return str(chain.folder.path) if chain.folder and chain.folder.value(name) else ""


def _used_for(settings: Settings, name: str) -> list[str]:
    return _asked_for(settings).get(name, [])


def _asked_for(settings: Settings) -> dict[str, list[str]]:
    """Names of variables or sealed secrets, with the settings that ask for them."""
    from bot.secrets import model_keys
    from bot.settings.secrets import asked_for

    asked = asked_for(settings)
    models = [("model", settings.model.name, settings.model.api_key_env)]
    models += [(f"models[{n}]", one.model, one.api_key_env) for n, one in enumerate(settings.models, 1)]
    tables = (
        ("embeddings", settings.embeddings),
        ("images", settings.images),
        ("transcription", settings.transcription),
        ("speech", settings.speech),
    )
    models += [(place, table.name, table.api_key_env) for place, table in tables if table.name]
    for place, model, named in models:
        for name in () if named else model_keys.names(model):
            asked.setdefault(name, []).append(f"{place}.api_key")
    return asked


# --------------------------------------------------------------------------------------------------------- the hints


def _hint(settings: Settings, name: str, value: str, entries: Entries, *, bound: bool) -> None:
    """Warn of what keeps the secret from being used, or a start from working."""
    from bot.secrets import model_keys
    from bot.secrets.removed import at_work

    if settings.chain.variables.get(name):
        tell(f"The variable {name} is set here too, and overrides it.")
    elif place := _open_place(settings, name):
        tell(f"{name} is in {place} too, which overrides it.")
    if not bound and not _used_for(settings, name):
        where = (
            "model.name chooses its model" if name in model_keys.ALL_KEYS else "a setting that ends with _env names it"
        )
        tell(f"Nothing uses it until {where}.")
    for other, entry in at_work(entries).items():
        if other != name and entry.value == value:
            tell(f"{other} holds the same value. A secret has one purpose: Signalbox won't start with it under two.")
    _hint_restart(settings)


def _hint_restart(settings: Settings) -> None:
    from bot.node.lock import holder

    if pid := holder(settings.data_dir):
        tell(f"Process {pid} still uses what it read at its start. Restart it.")


def _hint_source(opened: Opened, lock: Any) -> None:
    from bot.secrets.sealed import Lock

    if opened.lock is Lock.PASSPHRASE and opened.passphrase.source != "the terminal":
        tell(f"The old passphrase came from {opened.passphrase.source}: put the new one there before the next start.")
    elif lock is Lock.PASSPHRASE:
        tell("Every start needs it from now on; docs/secrets.md lists the ways to give it.")
