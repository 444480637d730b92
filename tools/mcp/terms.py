"""Terms of an MCP server, by its operator: how it is reached, and what its tools may do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from runtime.contract import Effect, ToolSpec
from tools.kit.placeholders import NoSecrets, SecretBook
from tools.mcp.oauth.grants import Login

if TYPE_CHECKING:
    from tools.mcp.offers import Offer


@dataclass(frozen=True, slots=True)
class SandboxTerms:
    """Bounds of a server that we start: files and folders that are `hidden`, and without `network` any other
    machine, and this one's ports too."""

    hidden: tuple[Path, ...] = ()
    network: bool = False


@dataclass(frozen=True, slots=True)
class Program:
    """A server that we start and speak to over its standard input and output.

    `folder` is its own: made where it is missing, its home, and where it starts unless `cwd` says otherwise. `env` is
    all of its environment but for HOME and LANG; what of that is `hidden` is cut out of what it says of itself. `uid` is
    whom it runs as where this process is root; None is as we do. Without `sandbox` it reaches whatever its user does.
    `files` are written into its folder before each start: texts by name.
    """

    command: tuple[str, ...]
    folder: Path
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    cwd: Path | None = None
    uid: int | None = None
    hidden: tuple[str, ...] = field(default=(), repr=False)
    sandbox: SandboxTerms | None = None
    files: Mapping[str, str] = field(default_factory=dict, repr=False)

    def __str__(self) -> str:
        return self.command[0]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A server that others run, reached over streamable HTTP. `login` says how tokens are got where it wants some."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    login: Login | None = None

    def __str__(self) -> str:
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.hostname}" + (f":{parts.port}" if parts.port else "")


MakeSpec = Callable[["Offer", "ServerTerms"], ToolSpec]


@dataclass(frozen=True, slots=True)
class ServerTerms:
    """One server. `effects` are globs of its tools' own names, the first that fits counts; `effect` is for the others.

    `trust_hints` takes its word for which tools only read. `wanted` are globs of the tools to take. `timeout` is for
    one call. `memory` is the file that keeps what it offered, over restarts. `title` is what people call it, and `make` makes
    a spec of an offer, where that is other than for a server of strangers. `secrets` are those that arguments of a call may name.
    """

    name: str
    way: Program | Endpoint
    memory: Path
    effect: Effect = Effect.WRITE
    effects: Mapping[str, Effect] = field(default_factory=dict)
    trust_hints: bool = False
    wanted: tuple[str, ...] = ("*",)
    timeout: timedelta = timedelta(seconds=60)
    title: str = ""
    make: MakeSpec | None = None
    secrets: SecretBook = field(default_factory=NoSecrets, repr=False, compare=False)

    @property
    def called(self) -> str:
        """The name by which people know it."""
        return self.title or f"MCP server {self.name}"

    def effect_of(self, tool: str, *, read_only: bool, usual: Effect | None = None) -> Effect:
        """Effect that the operator gives it; only where they trust the server its own hint counts for anything.

        `usual` is what counts in place of the server's effect, where the protocol itself says it.
        """
        said = next((effect for pattern, effect in self.effects.items() if fnmatchcase(tool, pattern)), None)
        if said is not None:
            return said
        if usual is not None:
            return usual
        return Effect.READ if self.trust_hints and read_only else self.effect

    def wants(self, tool: str) -> bool:
        return any(fnmatchcase(tool, pattern) for pattern in self.wanted)

    @property
    def whereabouts(self) -> str:
        """For a person who is asked about a call."""
        if isinstance(self.way, Endpoint):
            return f"It works at {self.way}."
        if self.way.sandbox is None:
            return "It runs on this machine, outside the sandbox."
        return f"It runs in a sandbox, {'with' if self.way.sandbox.network else 'without'} network."
