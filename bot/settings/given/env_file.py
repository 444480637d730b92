"""A file of variables, for `--env FILE`: a line each, as `NAME=value`, in the form that Docker and systemd read."""

from __future__ import annotations

import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from bot.settings.faults import is_secret
from runtime.errors import ConfigError

ENV_FILE_BYTES_MAX: Final = 1 << 20
LINE: Final = re.compile(r"(?:export\s+)?(?P<name>[A-Za-z_][A-Za-z0-9_]*)\s*=\s*(?P<value>.*)", re.DOTALL)
QUOTED_VALUE: Final = re.compile(r"""(?P<mark>["'])(?P<text>.*)(?P=mark)\s*(?:\s#.*)?""")
ESCAPED: Final = re.compile(r"\\(.)")
COMMENT_BEHIND: Final = re.compile(r"\s+#.*$")
MALFORMED: Final = (
    "{file}:{line}: expected NAME=value, as in OPENAI_API_KEY=…; the line isn't shown, since it may hold a secret."
)
UNCLOSED: Final = "{file}:{line}: the value of {name} begins with a quote that doesn't end on this line. Close it."
NO_NAME: Final = "{file}:{line}: the value of {name} has a sign that no variable can hold."
OPEN: Final = "{file} holds secrets ({names}), and {who} can read it. Close it: chmod 600 {file}"


@dataclass(frozen=True, slots=True)
class EnvFile:
    """Variables by name. `warning` is for whoever starts us; empty where there is none."""

    path: Path
    variables: Mapping[str, str] = field(repr=False)
    warning: str = ""


def read_env_file(path: Path) -> EnvFile:
    """Read a file of variables. Errors: ConfigError names the file and the line of each fault."""
    try:
        with path.open("rb") as file:
            mode = stat.S_IMODE(path.stat().st_mode)
            raw = file.read(ENV_FILE_BYTES_MAX + 1)
    except FileNotFoundError:
        raise ConfigError(f"--env: there is no file {path}. Make it, or leave out --env.") from None
    except OSError as error:
        raise ConfigError(f"--env: {path} cannot be read: {error.strerror}.") from None
    if len(raw) > ENV_FILE_BYTES_MAX:
        raise ConfigError(f"--env: {path} is larger than 1 MiB. It must be a list of variables, NAME=value.")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise ConfigError(f"{path}:{line}: not UTF-8 text. Save the file as UTF-8.") from None
    variables = _variables(path, text)
    return EnvFile(path, variables, _warning(path, variables, mode))


def _variables(path: Path, text: str) -> dict[str, str]:
    faults: list[str] = []
    found: dict[str, str] = {}
    for number, line in _lines(text):
        match = LINE.fullmatch(line)
        if match is None:
            faults.append(MALFORMED.format(file=path, line=number))
            continue
        name = match["name"]
        value = _value(match["value"])
        if value is None:
            faults.append(UNCLOSED.format(file=path, line=number, name=name))
        elif "\0" in value:
            faults.append(NO_NAME.format(file=path, line=number, name=name))
        else:
            found[name] = value
    if faults:
        raise ConfigError("\n".join(faults))
    return found


def _lines(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), 1):
        stripped = line.strip()
        if stripped and not stripped.startswith("#"):
            yield number, stripped


def _value(written: str) -> str | None:
    """The value that is written; None where its quote doesn't end.

    >>> _value('"a \\\\"b\\\\" c" # note'), _value("a#b # note"), _value("'$x'"), _value('"open')
    ('a "b" c', 'a#b', '$x', None)
    """
    if written[:1] not in ('"', "'"):
        return COMMENT_BEHIND.sub("", written) if not written.startswith("#") else ""
    if (quoted := QUOTED_VALUE.fullmatch(written)) is None:
        return None
    return ESCAPED.sub(_unescaped, quoted["text"]) if quoted["mark"] == '"' else quoted["text"]


def _unescaped(found: re.Match[str]) -> str:
    return {"n": "\n", "t": "\t", "r": "\r"}.get(found[1], found[1])


def _warning(path: Path, variables: Mapping[str, str], mode: int) -> str:
    names = [name for name in variables if is_secret(name) and variables[name]]
    if not names or not mode & (stat.S_IRGRP | stat.S_IROTH):
        return ""
    who = "everybody on this machine" if mode & stat.S_IROTH else "its group"
    return OPEN.format(file=path, names=", ".join(names), who=who)
