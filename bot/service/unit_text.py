"""The text of a unit of the user's systemd. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Final

MARK: Final = "# Made by `signalbox service install` for the data in "
PLAIN_WORD: Final = re.compile(r"[A-Za-z0-9_@.,:/+=-]+")
STOP_SPARE: Final = timedelta(seconds=5)
"""Time after the program's own end of patience, until systemd kills it."""
UNIT: Final = """\
{mark}{data_dir}
# `signalbox service install` writes it anew: change it by options of that, or with `systemctl --user edit {name}`.

[Unit]
Description=Signalbox ({folder})
# Never give up: a database that is away for an hour must not leave the service dead. RestartSec bounds what that costs.
StartLimitIntervalSec=0

[Service]
Type=notify
ExecStart={command}
WorkingDirectory={working}
{environment}UMask=0077
# The database may have to be upgraded first. A process whose event loop hangs for a minute is ended: a kill is safe.
TimeoutStartSec=5min
WatchdogSec=60
TimeoutStopSec={stop}
KillMode=mixed
Restart=on-failure
RestartSec=5
# Wrong settings, or a data folder or port that somebody has: nothing gets better by itself.
RestartPreventExitStatus=2
NoNewPrivileges=yes

[Install]
WantedBy=default.target
"""


def unit_text(
    *,
    name: str,
    command: Sequence[str],
    folder: Path,
    data_dir: Path,
    shutdown: timedelta,
    variables: Mapping[str, str],
) -> str:
    """A unit that runs `command` in `folder`."""
    environment = "".join(f"Environment={quoted(f'{key}={value}')}\n" for key, value in sorted(variables.items()))
    return UNIT.format(
        mark=MARK,
        data_dir=one_line(str(data_dir)),
        name=name,
        folder=one_line(str(data_dir)).replace("%", "%%"),
        command=" ".join(quoted(word, is_command=True) for word in command),
        working=one_line(str(folder)).replace("%", "%%"),
        environment=environment,
        stop=f"{(shutdown + STOP_SPARE).total_seconds():g}",
    )


def owner_of(text: str) -> str | None:
    """The data folder of a unit that we wrote; None for somebody else's."""
    first = text.partition("\n")[0]
    return first.removeprefix(MARK) if first.startswith(MARK) else None


def one_line(text: str) -> str:
    """Text in a comment or a description: no line of its own.

    >>> one_line("a\\nExecStart=/bin/sh")
    'a ExecStart=/bin/sh'
    """
    return " ".join(text.splitlines())


def quoted(word: str, *, is_command: bool = False) -> str:
    """A word as systemd reads it. Source: systemd.service(5), "Command lines", and systemd.unit(5), "Specifiers".

    >>> quoted("/a b/c"), quoted("100%"), quoted("$HOME", is_command=True), quoted('say "x"')
    ('"/a b/c"', '"100%%"', '"$$HOME"', '"say \\\\"x\\\\""')
    """
    if PLAIN_WORD.fullmatch(word):
        return word
    text = word.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("%", "%%")
    return f'"{text.replace("$", "$$") if is_command else text}"'
