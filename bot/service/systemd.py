"""A service as a unit of the user's systemd."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Final

from bot.node.lock import holder
from bot.service.detached import ALREADY, LAST_LOG_LINES, NOT_OURS
from bot.service.programs import Answered, Unanswered, ask
from bot.service.records import SYSTEMD
from bot.service.states import ServiceState, stands
from bot.service.unit_text import owner_of
from runtime.errors import BotError, ConfigError

SYSTEMCTL: Final = ("systemctl", "--user")
PROPERTIES: Final = ("ActiveState", "SubState", "MainPID", "Result")
STOP_SPARE_SECONDS: Final = 30.0
FAILED: Final = "The unit {unit} didn't start: {why}"
SLOW_START: Final = "The unit {unit} isn't ready after {seconds:g} s; it goes on starting. Look at it: signalbox service status, signalbox service logs"
FOREIGN: Final = "There is a unit {path} already, and it isn't this service's: {whose}. Name another one with --name."
LINGER: Final = "It ends when you log out, and starts when you log in. To have it run always: loginctl enable-linger"


def has_user_systemd() -> bool:
    """True where a systemd of this user answers."""
    with suppress(BotError):
        told = ask([*SYSTEMCTL, "show", "--property=Version", "--value"])
        return told.code == 0 and bool(told.out.strip())
    return False


def lingers() -> bool:
    """True where this user's systemd works also while nobody is logged in, or nobody can tell."""
    with suppress(BotError):
        told = ask(["loginctl", "show-user", "--property=Linger", "--value"])
        return told.code != 0 or told.out.strip() != "no"
    return True


def unit_folder(config: Path | None) -> Path:
    """Folder of the user's units, beside the folder `config` of our own. Errors: ConfigError for a user without a home."""
    if config is None:
        raise ConfigError("This user has no home folder for a unit (HOME isn't set). Use --detached.")
    return config.parent / "systemd" / "user"


class UserUnit:
    """The unit `name` of the user's systemd, for the process on `data_dir`."""

    def __init__(self, name: str, folder: Path, data_dir: Path) -> None:
        self.unit = f"{name}.service"
        self.path = folder / self.unit
        self._name = name
        self._data_dir = data_dir

    def install(self, text: str) -> bool:
        """Write the unit, and have it start with the user's session; False where it was so. Errors: ConfigError for another's."""
        fresh = not self.path.exists()
        if not fresh and (owner := owner_of(self.path.read_text(encoding="utf-8"))) != str(self._data_dir):
            raise ConfigError(
                FOREIGN.format(path=self.path, whose=f"it works on {owner}" if owner else "we didn't make it")
            )
        changed = fresh or self.path.read_text(encoding="utf-8") != text
        if changed:
            try:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                made = self.path.with_name(f".{self.unit}.new")
                made.write_text(text, encoding="utf-8")
                made.replace(self.path)
            except OSError as error:
                raise ConfigError(f"{self.path} can't be written: {error.strerror}.") from error
        self._do("daemon-reload")
        self._do("enable", self.unit)
        return changed

    def uninstall(self) -> None:
        """Stop it and remove the unit."""
        if self.path.exists() and owner_of(self.path.read_text(encoding="utf-8")) == str(self._data_dir):
            self._do("disable", "--now", self.unit)
            self.path.unlink()
        self._do("daemon-reload")

    def state(self) -> ServiceState:
        shown = self._shown()
        pid = int(shown.get("MainPID", "0") or 0) or None
        note = "" if pid else _note(shown)
        return stands(SYSTEMD, self.unit, f"journalctl --user --unit {self.unit}", self._data_dir, pid, note)

    def start(self, within: timedelta) -> ServiceState:
        """Start it; systemd waits until it says that it is ready. Errors: BotError with its last words."""
        runs = self._shown().get("ActiveState") == "active"
        if not runs and (other := holder(self._data_dir)) and self._shown().get("MainPID", "0") != str(other):
            raise BotError(NOT_OURS.format(pid=other, data_dir=self._data_dir))
        try:
            told = ask([*SYSTEMCTL, "start", self.unit], within.total_seconds())
        except Unanswered:
            raise BotError(SLOW_START.format(unit=self.unit, seconds=within.total_seconds())) from None
        if told.code:
            lines = "\n".join(f"  {line}" for line in self.logs(LAST_LOG_LINES))
            raise BotError(f"{FAILED.format(unit=self.unit, why=told.words)}\n{lines}".rstrip())
        state = self.state()
        return replace(state, note=ALREADY) if runs else state

    def stop(self, within: timedelta | None) -> bool:
        """Have it drain; systemd kills it after its time, or we do `within`. False where it didn't run."""
        shown = self._shown()
        if shown.get("ActiveState") in ("inactive", "failed", None):
            return False
        patience = within.total_seconds() if within else STOP_SPARE_SECONDS + self._stop_seconds()
        try:
            self._done(ask([*SYSTEMCTL, "stop", self.unit], patience), "stop")
        except Unanswered:
            self._do("kill", "--signal=SIGKILL", self.unit)
            self._do("stop", self.unit)
        return True

    def logs(self, count: int) -> list[str]:
        """The last lines of its log. Empty where the journal can't be read."""
        with suppress(BotError):
            told = ask(
                ["journalctl", "--user", f"--unit={self.unit}", f"--lines={count}", "--no-pager", "--output=cat"]
            )
            return told.out.splitlines()
        return []

    def follow(self, count: int) -> Sequence[str]:
        """The command that shows the log and what comes."""
        return ["journalctl", "--user", f"--unit={self.unit}", f"--lines={count}", "--follow", "--output=cat"]

    def _stop_seconds(self) -> float:
        shown = self._do("show", "--property=TimeoutStopUSec", "--value", self.unit).out.strip()
        return span_seconds(shown)

    def _shown(self) -> Mapping[str, str]:
        told = self._do("show", f"--property={','.join(PROPERTIES)}", self.unit)
        pairs = (line.partition("=") for line in told.out.splitlines())
        return {name: value for name, _, value in pairs}

    def _do(self, *words: str) -> Answered:
        return self._done(ask([*SYSTEMCTL, *words]), words[0])

    def _done(self, told: Answered, what: str) -> Answered:
        if told.code:
            raise BotError(f"systemctl --user {what} failed: {told.words or f'exit code {told.code}'}")
        return told


def span_seconds(text: str) -> float:
    """A time as systemctl shows it.

    >>> span_seconds("14s 500ms"), span_seconds("1min 5s"), span_seconds("infinity")
    (14.5, 65.0, 0.0)
    """
    units = {"ms": 0.001, "us": 0.000001, "s": 1.0, "min": 60.0, "h": 3600.0}
    total = 0.0
    for word in text.split():
        number = word.rstrip("abcdefghijklmnopqrstuvwxyz")
        with suppress(ValueError):
            total += float(number) * units.get(word[len(number) :], 0.0)
    return total


def _note(shown: Mapping[str, str]) -> str:
    """Words on a unit that doesn't run."""
    result = shown.get("Result", "")
    return (
        f"systemd says: {shown.get('ActiveState', 'unknown')}{f', {result}' if result not in ('', 'success') else ''}"
    )
