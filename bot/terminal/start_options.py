"""Flags with which a process starts, for `run` and for a service that runs it; and a file of variables for each command."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from runtime.errors import ConfigError

if TYPE_CHECKING:
    from bot.settings.given.flags import Flags
    from bot.settings.safety.guard import Guardrails
    from bot.settings.settings import Settings

VENDORS_NAMED: Final = "anthropic, gemini, mistral, ollama, openai or openrouter"
VARIABLES_TAKEN: Final = "signalbox.env"
"""In the context of a command: the file whose variables were taken."""

Host = Annotated[str | None, typer.Option("--host", help="Address to listen on, instead of web.host.")]
Port = Annotated[int | None, typer.Option("--port", help="Port to listen on, instead of web.port; 0 takes a free one.")]
ModelName = Annotated[
    str | None,
    typer.Option(
        "--model", metavar="NAME", help="Model to use, instead of model.name: a name of [[models]], or vendor/model."
    ),
]
Only = Annotated[
    list[str] | None,
    typer.Option(
        "--with",
        metavar="ACCOUNT",
        help="Only this account connects, by its name; the page always does. Repeatable. --with web: the page alone.",
    ),
]
ShutdownTimeout = Annotated[
    float | None,
    typer.Option(
        "--shutdown-timeout",
        metavar="SECONDS",
        help="Longest time from a signal to stop to the end, instead of nodes.shutdown_seconds.",
    ),
]
NoGuardrails = Annotated[
    bool,
    typer.Option(
        "--no-guardrails",
        help="Turn the leak guard off, whatever the settings say: keys and tokens are stored, sent and shown.",
    ),
]
EnforceGuardrails = Annotated[
    bool,
    typer.Option(
        "--enforce-guardrails",
        help="Withhold each text in which the leak guard finds something, where the settings only warn or redact.",
    ),
]
AuthUrl = Annotated[
    str | None,
    typer.Option("--auth-url", help="Forward-auth address that is asked who somebody is, instead of auth.url."),
]
MockTools = Annotated[
    Path | None,
    typer.Option(
        "--mock-tools", metavar="FILE", help="Tools give the canned results of this file, and do nothing: tools.mock."
    ),
]


def take_variables(context: typer.Context, file: Path | None) -> Path | None:
    """Take the variables of `--env FILE`, before anything reads settings."""
    taken = context.find_root().meta
    if file is None or context.resilient_parsing or taken.get(VARIABLES_TAKEN) == file.absolute():
        return file
    from bot.settings.settings import add_variables

    if warning := add_variables(file):
        typer.echo(f"signalbox: warning: {warning}", err=True)
    taken[VARIABLES_TAKEN] = file.absolute()
    return file


EnvFile = Annotated[
    Path | None,
    typer.Option(
        "--env",
        metavar="FILE",
        callback=take_variables,
        is_eager=True,
        help="File of variables, NAME=value on each line. One that is set already stays as it is.",
    ),
]


def variables_file(context: typer.Context) -> Path | None:
    """The file of `--env`, wherever in the command line it stood."""
    found: Path | None = context.find_root().meta.get(VARIABLES_TAKEN)
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class StartOptions:
    """Options of a start, for `run` and for a service that runs it."""

    host: Host = None
    port: Port = None
    model: ModelName = None
    only: Only = None
    shutdown_timeout: ShutdownTimeout = None
    no_guardrails: NoGuardrails = False
    enforce_guardrails: EnforceGuardrails = False
    auth_url: AuthUrl = None
    mock_tools: MockTools = None

    def flags(self) -> Flags:
        """Flags as settings: each is the setting that it stands for."""
        from bot.settings.given.flags import Flags

        given: dict[str, object] = {
            "web.host": self.host,
            "web.port": self.port,
            "model.name": self.model,
            "nodes.shutdown_seconds": self.shutdown_timeout,
            "auth.url": self.auth_url,
            "tools.mock": self._canned(),
        }
        names = names_in(self.only)
        if self.only and not names:
            raise ConfigError("--with: expected the name of an account, or web for the page alone.")
        return Flags({name: value for name, value in given.items() if value is not None}, names)

    def guardrails(self) -> Guardrails:
        from bot.settings.safety.guard import Guardrails

        if self.no_guardrails and self.enforce_guardrails:
            raise ConfigError("--no-guardrails and --enforce-guardrails contradict each other. Use one of them.")
        if self.no_guardrails:
            return Guardrails.OFF
        return Guardrails.ENFORCED if self.enforce_guardrails else Guardrails.AS_SET

    def typed(self) -> list[str]:
        """Options as they are typed again, for a service: those that were given."""
        others: dict[str, object] = {
            "host": self.host,
            "port": self.port,
            "model": self.model,
            "with": names_in(self.only),
        }
        others |= {"shutdown-timeout": self.shutdown_timeout, "auth-url": self.auth_url, "mock-tools": self._canned()}
        switches = {"no-guardrails": self.no_guardrails, "enforce-guardrails": self.enforce_guardrails}
        words = [f"--{name}" for name, is_on in switches.items() if is_on]
        for name, given in others.items():
            every = given if isinstance(given, list) else [] if given is None else [given]
            words += [word for one in every for word in (f"--{name}", str(one))]
        return words

    def _canned(self) -> str | None:
        return None if self.mock_tools is None else str(self.mock_tools.expanduser().absolute())


def check_model(settings: Settings, given: str | None) -> None:
    """Refuse a model that somebody names right now and that can't be asked. Errors: ConfigError names those there are."""
    if given is None:
        return
    from bot.wiring.unused_settings import unknown_models

    for finding in unknown_models(settings):
        if finding.id == "model.name":
            names = ", ".join(["demo", "auto", *(one.name for one in settings.models)])
            told = finding.what if finding.what.endswith("?") else f"{finding.what}."
            raise ConfigError(
                f"--model {given}: {told} There are: {names}; or vendor/model, with a vendor such as {VENDORS_NAMED}."
            )


def names_in(only: list[str] | None) -> list[str]:
    """Names of a repeatable option, of which one may hold several: `--with work,ops`."""
    return [name.strip() for one in only or () for name in one.split(",") if name.strip()]
