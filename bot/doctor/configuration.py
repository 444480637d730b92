"""The settings: where they come from, what is wrong with them, and who can read what they hold."""

from __future__ import annotations

import stat
from collections.abc import Iterator, Sequence

from bot.doctor.subject import Subject, fault, fine, warning
from bot.secrets import model_keys
from bot.settings.agents.folder import AGENTS_FOLDER
from bot.settings.approvals import NEW_NAME, OLD_NAME
from bot.settings.hands.folder import HANDS_FOLDER
from bot.settings.secrets import uses
from bot.settings.settings import Settings
from bot.settings.workflows.folder import WORKFLOWS_FOLDER
from bot.wiring.unused_settings import unused_database
from runtime.contract import Finding


async def check_configuration(subject: Subject) -> Sequence[Finding]:
    return [*_source(subject), *_exposed(subject.settings), *_unused(subject.settings), *_old(subject.settings)]


def _source(subject: Subject) -> Iterator[Finding]:
    settings = subject.settings
    if subject.faults is not None:
        why = "Signalbox won't start with them. The checks below leave them out."
        told = str(subject.faults)
        fix = f"change {_to_change(settings, told)}, then check again: signalbox doctor"
        yield fault("settings.valid", told, why, fix)
    elif settings.file is not None:
        yield fine("settings.valid", f"read from {settings.file}")
    else:
        yield fine("settings.valid", "no file: defaults and variables (signalbox init makes one)")


def _to_change(settings: Settings, told: str) -> str:
    """The file with the faults. Those of a workflow, an agent or a hand name the file that it stands in."""
    file = str(settings.file or "the variables")
    beside = any(f"{folder}/" in told for folder in (AGENTS_FOLDER, HANDS_FOLDER, WORKFLOWS_FOLDER))
    return f"the files that are named above, or {file} where none is" if beside else file


def _exposed(settings: Settings) -> Iterator[Finding]:
    """A secret in a file that others may read."""
    file = settings.file
    if file is None or not file.exists() or not stat.S_IMODE(file.stat().st_mode) & 0o077:
        return
    open_ones = sorted({use.name for use in uses(settings, settings.sources) if use.source == str(file)})
    if open_ones:
        what = f"{file} can be read by others and holds {', '.join(open_ones)}"
        yield warning(
            "settings.exposed",
            what,
            "Anyone who reads the file has those secrets.",
            f"chmod 600 {file}, or: signalbox secrets set",
        )


def _old(settings: Settings) -> Iterator[Finding]:
    if OLD_NAME in settings.old_names:
        why = "The next minor version drops the old name."
        yield warning("settings.old_name", f"{OLD_NAME} is called {NEW_NAME} now", why, f"rename it to {NEW_NAME}")


def _unused(settings: Settings) -> Iterator[Finding]:
    """Variables that are set and not used: one may wonder why it is still the demo, or another database."""
    yield from unused_database(settings)
    names = [name for name in model_keys.ALL_KEYS if settings.chain.variables.get(name)]
    if settings.model.is_demo and names:
        why = "Without model.name, Signalbox uses the demo model, whatever keys are set."
        yield warning(
            "settings.unused_key", f"{names[0]} is set but not used", why, "signalbox init, or set model.name"
        )
