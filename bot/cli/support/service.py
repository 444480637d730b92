"""`signalbox service`: Signalbox in the background, by the user's systemd or as a process of its own."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, replace
from datetime import timedelta
from pathlib import Path
from shlex import join, quote
from typing import TYPE_CHECKING, Annotated, Final

import typer

from bot.node.invocation import as_called
from bot.terminal.grouped import grouped
from bot.terminal.options import AsJson, ConfigFile, settings_of
from bot.terminal.output import clean, show_facts, show_json, tell
from bot.terminal.start_options import EnvFile, StartOptions, check_model, variables_file
from runtime.errors import ConfigError

if TYPE_CHECKING:
    from bot.service.detached import DetachedService
    from bot.service.records import Installed
    from bot.service.states import ServiceState
    from bot.service.systemd import UserUnit
    from bot.settings.settings import Settings

commands = typer.Typer(
    no_args_is_help=True, help="Signalbox in the background: install, start and stop it, and see how it stands."
)

NOT_RUNNING: Final = 3
"""As `systemctl status` ends for a unit that doesn't run."""
UNIT_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
LOG: Final = "service.log"
FOLLOW_SECONDS: Final = 0.5
START_SECONDS: Final = 60.0
SECONDS_MAX: Final = 86_400
NONE_YET: Final = "There's no service for data_dir {data_dir} yet. Make one: signalbox service install"
BAD_NAME: Final = "--name {name}: expected letters, digits, - and _, such as signalbox-work."
VARIABLES_LEFT_OUT: Final = "The service won't have these variables of this terminal: {names}. Put them into a file that only you can read, and install with --env FILE; or seal them: signalbox secrets set {first}"
NOT_AT_BOOT: Final = "No systemd of this user answers here, so nothing starts it with the machine, or again after a crash. To have cron start it, which knows neither this folder nor its variables: @reboot {command}"

IsDetached = Annotated[
    bool, typer.Option("--detached", help="Use a process of its own, also where there is a systemd.")
]
OwnLog = Annotated[
    Path | None,
    typer.Option("--log-file", metavar="FILE", help="Log of a process of its own. Default: service.log in data_dir."),
]
Wait = Annotated[float, typer.Option("--wait", min=1, metavar="SECONDS", help="Longest wait until it is ready.")]
Force = Annotated[
    float | None,
    typer.Option(
        "--shutdown-timeout",
        min=0.1,
        metavar="SECONDS",
        help="End it by force after so long. Without it: a second after its own longest time to stop.",
    ),
]


def add_to(cli: typer.Typer) -> None:
    cli.add_typer(commands, name="service")


@commands.command()
@grouped
def install(
    context: typer.Context,
    start: StartOptions,
    name: Annotated[str, typer.Option("--name", help="Name of the unit.")] = "signalbox",
    detached: IsDetached = False,
    now: Annotated[bool, typer.Option("--now", help="Start it too.")] = False,
    log_file: OwnLog = None,
    env: EnvFile = None,
    config: ConfigFile = None,
) -> None:
    """Make a service of Signalbox with these settings and flags, that starts with your session where systemd runs.

    Run it again to change the flags. It starts with the next `signalbox service restart`.
    """
    start.guardrails()
    settings = settings_of(context, config, start.flags())
    check_model(settings, start.model)
    file = variables_file(context)
    words = [*_config_words(settings), *(["--env", str(file)] if file else []), "run", *start.typed()]
    _install(settings, name, words, log_file, detached=detached)
    if now:
        _start(settings, START_SECONDS)
    else:
        typer.echo(as_called("Start it: signalbox service start"))


@commands.command()
def uninstall(context: typer.Context, env: EnvFile = None, config: ConfigFile = None) -> None:
    """Stop the service and remove it. What is in data_dir stays."""
    from bot.service.records import forget_installed
    from bot.service.systemd import UserUnit

    settings = _settings(context, config)
    service = _service(settings)
    if isinstance(service, UserUnit):
        service.uninstall()
    else:
        service.stop(None)
    forget_installed(settings.data_dir)
    typer.echo(f"Removed. Its data is still in {settings.data_dir}.")


@commands.command()
def start(context: typer.Context, wait: Wait = START_SECONDS, env: EnvFile = None, config: ConfigFile = None) -> None:
    """Start the service, and wait until it is ready; else print what it died with."""
    _start(_settings(context, config), wait)


@commands.command()
def stop(
    context: typer.Context, shutdown_timeout: Force = None, env: EnvFile = None, config: ConfigFile = None
) -> None:
    """Have the service finish what it can, and end it by force after its time. Touches no other process."""
    within = _seconds("--shutdown-timeout", shutdown_timeout)
    stopped = _service(_settings(context, config)).stop(within)
    typer.echo("Stopped." if stopped else "It wasn't running.")


@commands.command()
def restart(
    context: typer.Context,
    shutdown_timeout: Force = None,
    wait: Wait = START_SECONDS,
    env: EnvFile = None,
    config: ConfigFile = None,
) -> None:
    """Stop the service and start it again, with the settings of now."""
    settings = settings_of(context, config)  # what is wrong with them is told before it is stopped
    _service(settings).stop(_seconds("--shutdown-timeout", shutdown_timeout))
    _start(settings, wait)


@commands.command()
def status(context: typer.Context, as_json: AsJson = False, env: EnvFile = None, config: ConfigFile = None) -> None:
    """Show process, uptime, address and health. Exit code: 0 it runs, 3 it doesn't."""
    settings = _settings(context, config)
    service = _found(settings)
    shown = service.state() if service else None
    if as_json:
        show_json(_as_json(shown))
    elif shown is None:
        tell(as_called(NONE_YET.format(data_dir=settings.data_dir)))
    else:
        _tell_state(shown)
    raise typer.Exit(0 if shown and shown.runs else NOT_RUNNING)


@commands.command()
def logs(
    context: typer.Context,
    lines: Annotated[int, typer.Option("--lines", min=1, max=100_000, help="At most so many.")] = 50,
    follow: Annotated[bool, typer.Option("--follow", help="Go on with what comes, until Ctrl-C.")] = False,
    env: EnvFile = None,
    config: ConfigFile = None,
) -> None:
    """Print the end of the service's log, also of one that has ended."""
    from bot.service.rotation import last_lines
    from bot.service.systemd import UserUnit

    settings = _settings(context, config)
    service = _service(settings)
    if isinstance(service, UserUnit):
        if follow:
            raise typer.Exit(subprocess.run(list(service.follow(lines)), check=False).returncode)  # noqa: S603
        found = service.logs(lines)
        log = Path()
    else:
        log = Path(service.state().log)
        found = last_lines(log, lines)
    for line in found:
        typer.echo(clean(line))
    if follow:
        for line in _followed(log):
            typer.echo(clean(line))


def _install(settings: Settings, name: str, words: list[str], log_file: Path | None, *, detached: bool) -> None:
    from bot.service.records import DETACHED, SYSTEMD, Installed, in_turn, installed_in, keep_installed
    from bot.service.systemd import has_user_systemd

    if not UNIT_NAME.fullmatch(name):
        raise ConfigError(BAD_NAME.format(name=name))
    by_systemd = not detached and has_user_systemd()
    log = "" if by_systemd else str((log_file or settings.data_dir / LOG).absolute())
    made = Installed(SYSTEMD if by_systemd else DETACHED, name, words, str(_folder(settings)), log)
    with in_turn(settings.data_dir):
        before = installed_in(settings.data_dir)
        if before and (before.kind, before.name) != (made.kind, made.name):
            raise ConfigError(
                f"There's a service for {settings.data_dir} already: {before.name}, by {before.kind}. Remove that one first: signalbox service uninstall"
            )
        if by_systemd:
            _install_unit(settings, made)
        else:
            _check_log(log)
        keep_installed(settings.data_dir, made)
    for line in _told(settings, made):
        typer.echo(as_called(line))


def _install_unit(settings: Settings, made: Installed) -> None:
    from bot.service.programs import program
    from bot.service.unit_text import unit_text
    from bot.settings.settings import environment

    variables = {key: value for key in ("XDG_CONFIG_HOME", "PYTHONPATH", "PATH") if (value := environment().get(key))}
    text = unit_text(
        name=f"{made.name}.service",
        command=[*program(), *made.arguments],
        folder=Path(made.folder),
        data_dir=settings.data_dir,
        shutdown=settings.nodes.shutdown,
        variables=variables,
    )
    _unit(settings, made.name).install(text)


def _check_log(log: str) -> None:
    """Errors: ConfigError where the log can't be written, now rather than at the start."""
    import os

    from bot.service.rotation import opened

    os.close(opened(Path(log)))


def _told(settings: Settings, made: Installed) -> Iterator[str]:
    """Words after an installation."""
    from bot.service.records import SYSTEMD
    from bot.service.systemd import LINGER, lingers
    from bot.settings.settings import environment

    if made.kind == SYSTEMD:
        yield f"Installed {_unit(settings, made.name).path}; it starts with your session."
        variables = [name for name in dict.fromkeys(settings.sources.values()) if environment().get(name)]
        if variables := [name for name in variables if name not in _of_file(made)]:
            yield VARIABLES_LEFT_OUT.format(names=", ".join(variables), first=variables[0])
        if not lingers():
            yield LINGER
    else:
        from bot.service.programs import program

        yield f"Installed: a process of its own, with its log in {made.log}."
        command = [*program(), *made.arguments[: made.arguments.index("run")], "service", "start"]
        yield NOT_AT_BOOT.format(command=f"cd {quote(made.folder)} && {_data_folder(settings)}{join(command)}")


def _data_folder(settings: Settings) -> str:
    """The variable that names it, where one of this terminal does."""
    from bot.settings.settings import environment

    variable = settings.sources.get("data_dir", "")
    return f"{variable}={quote(str(settings.data_dir.absolute()))} " if environment().get(variable) else ""


def _of_file(made: Installed) -> set[str]:
    """Names that the service has from its file of variables."""
    words = list(made.arguments)
    if "--env" not in words:
        return set()
    from bot.settings.given.env_file import read_env_file

    return set(read_env_file(Path(words[words.index("--env") + 1])).variables)


def _config_words(settings: Settings) -> list[str]:
    return ["--config", str(settings.file)] if settings.file else []


def _folder(settings: Settings) -> Path:
    """Folder in which it starts: that of the settings, from which their relative paths count."""
    return settings.file.parent if settings.file else Path.cwd()


def _service(settings: Settings) -> DetachedService | UserUnit:
    """The service of a data folder. Errors: ConfigError where there is none."""
    if (found := _found(settings)) is None:
        raise ConfigError(NONE_YET.format(data_dir=settings.data_dir))
    return found


def _found(settings: Settings) -> DetachedService | UserUnit | None:
    from bot.service.detached import DetachedService
    from bot.service.records import SYSTEMD, installed_in

    made = installed_in(settings.data_dir)
    if made is None:
        return None
    if made.kind == SYSTEMD:
        return _unit(settings, made.name)
    return DetachedService(settings.data_dir, made, settings.nodes.shutdown)


def _unit(settings: Settings, name: str) -> UserUnit:
    from bot.service.systemd import UserUnit, unit_folder
    from bot.settings.settings import environment
    from bot.settings.sources import config_folder

    return UserUnit(name, unit_folder(config_folder(environment())), settings.data_dir)


def _settings(context: typer.Context, config: Path | None) -> Settings:
    """Settings by which a service is found, also where something else in them is wrong: it can be stopped all the same."""
    from bot.settings.settings import load_usable

    return load_usable(config or context.find_root().obj)[0]


def _start(settings: Settings, wait: float) -> None:
    state = _service(settings).start(_seconds("--wait", wait) or timedelta())
    _tell_state(state)
    if state.url:
        typer.echo(as_called(f"For a link to the page: signalbox people link {quote(_owner(settings))}"))


def _owner(settings: Settings) -> str:
    """Name of an owner, for a command to copy."""
    from bot.terminal.options import ask_operator

    rows = ask_operator(settings, lambda api: api.people())
    return next((str(row["name"]) for row in rows if row["role"] == "owner"), "owner")


def _seconds(option: str, given: float | None) -> timedelta | None:
    if given is None:
        return None
    if not 0 < given <= SECONDS_MAX:
        raise ConfigError(f"{option}: got {given:g}; expected seconds, up to a day.")
    return timedelta(seconds=given)


def _tell_state(state: ServiceState) -> None:
    if state.note:
        typer.echo(clean(state.note))
    if not state.runs:
        typer.echo(f"{state.name} ({state.kind}) isn't running.")
        if state.other:
            typer.echo(f"Process {state.other} works on its data, and wasn't started as this service.")
        return
    typer.echo(f"{state.name} ({state.kind}) runs.")
    show_facts(
        (name, value)
        for name, value in (
            ("process", state.pid),
            ("up for", _in_words(state.up)),
            ("address", state.url),
            ("health", state.health),
            ("log", state.log),
        )
        if value
    )
    for name, why in (state.reasons or {}).items():
        typer.echo(clean(f"  {name}: {why}"))


def _as_json(state: ServiceState | None) -> dict[str, object]:
    if state is None:
        return {"installed": False, "runs": False}
    up = state.up.total_seconds() if state.up else None
    return {"installed": True, "runs": state.runs, **asdict(replace(state, up=None)), "up": up}


def _in_words(up: timedelta | None) -> str:
    if up is None:
        return ""
    minutes, seconds = divmod(int(up.total_seconds()), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    parts = ((days, "d"), (hours, "h"), (minutes, "min"), (seconds, "s"))
    return " ".join(f"{count} {unit}" for count, unit in parts if count) or "0 s"


def _followed(log: Path) -> Iterator[str]:
    """Lines that come, also into the file that a rotation puts in the place of this one."""
    file = log.open(encoding="utf-8", errors="replace")
    file.seek(0, 2)
    while True:
        if line := file.readline():
            yield line.rstrip("\n")
            continue
        sys.stdout.flush()
        time.sleep(FOLLOW_SECONDS)
        if log.exists() and log.stat().st_ino != Path(f"/dev/fd/{file.fileno()}").stat().st_ino:
            rest = file.read().splitlines()
            file.close()
            yield from rest
            file = log.open(encoding="utf-8", errors="replace")
