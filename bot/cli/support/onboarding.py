"""`signalbox onboard`: set up, a first task that really runs, and a report of what works and what doesn't."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import nullcontext, redirect_stdout
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from bot.cli import init
from bot.node.invocation import as_called
from bot.terminal.grouped import grouped
from bot.terminal.options import AsJson, ConfigFile, asking, hide_secrets, run, running_flags
from bot.terminal.output import clean, show_json
from runtime.errors import BotError, ConfigError

if TYPE_CHECKING:
    from bot.onboarding.first_task import Tried
    from bot.onboarding.looking import Seen
    from bot.onboarding.report import Report
    from bot.settings.settings import Settings
    from bot.wizard.draft import Flags

    Tell = Callable[[Seen], None]

LEVEL_MARKS: Final = {"ok": ("ok", "green"), "warning": ("note", "yellow"), "error": ("FAILED", "red")}
BELOW: Final = " " * 8
NEXT: Final = {
    "signalbox run": "starts it; the page is at the address that it prints",
    "signalbox chat": "talks with it here, while it runs",
    "signalbox service install": "keeps it running in the background",
}
AFTER_A_FAULT: Final = "signalbox onboard"
INTERRUPTED_CODE: Final = 130

TaskText = Annotated[
    str | None,
    typer.Option("--task", metavar="TEXT", help='The first task. Default: "list the files", which changes nothing.'),
]
Patience = Annotated[float, typer.Option("--timeout", min=0.1, metavar="SECONDS", help="Longest wait for the answer.")]


def add_to(cli: typer.Typer) -> None:
    cli.command()(grouped(onboard))


def onboard(
    context: typer.Context,
    answers: init.AnswerOptions,
    task: TaskText = None,
    timeout: Patience = 120.0,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Set up Signalbox where it isn't yet, run a first task, and report what works and how to fix what doesn't.

    Where there are settings, they stay as they are: a second run looks and tries again. Exit code: 0 all works, 1 something
    doesn't, 2 wrong use, 3 the task waits for an approval, 4 no answer in time.
    """
    given = config or context.find_root().obj
    report = _Report(answers.flags(), alone=answers.alone or as_json)
    with redirect_stdout(sys.stderr) if as_json else nullcontext():
        report.make(given, task, timedelta(seconds=timeout), _Printed().tell if not as_json else _tell_nothing)
    if as_json:
        show_json(report.made.as_json())
    else:
        _tell_the_end(report.made)
    raise typer.Exit(report.made.code)


class _Report:
    """Makes the report: the settings first, where there are none."""

    def __init__(self, flags: Flags, *, alone: bool) -> None:
        from bot.onboarding.report import Report

        self.made = Report()
        self._flags = flags
        self._alone = alone

    def make(self, given: Path | None, task: str | None, patience: timedelta, tell: Tell) -> None:
        """Errors: ConfigError for answers that would change nothing."""
        try:
            there = _there(given)
        except ConfigError as error:
            self._failed(error)
            return
        if there is not None:
            _refuse_flags(self._flags, there)
            self.made.file = there
            typer.echo(f"Settings are in {there}. They stay as they are.\n")
        elif not self._set_up((given or Path("signalbox.toml")).absolute()):
            return
        _look_and_try(self.made, task, patience, tell)

    def _set_up(self, file: Path) -> bool:
        try:
            init.set_up(file, self._flags, force=False, alone=self._alone, tells_next=False)
        except (typer.Abort, KeyboardInterrupt):
            typer.echo("\nStopped. No settings were written.", err=True)
            raise typer.Exit(INTERRUPTED_CODE) from None
        except BotError as error:
            self._failed(error)
            return False
        self.made.file, self.made.is_new = file, True
        typer.echo()
        return True

    def _failed(self, error: BotError) -> None:
        from bot.tryouts.causes import CauseWord
        from bot.tryouts.model import cause_of_words

        known = cause_of_words(str(error))
        cause = CauseWord.SETTINGS if known is CauseWord.OTHER else known
        self.made.failure = (cause, clean(as_called(str(error))))


def _there(given: Path | None) -> Path | None:
    """The settings file that is there."""
    from bot.settings.settings import load_usable

    if given is not None:
        return given.absolute() if given.exists() else None
    return load_usable(None, ask=asking())[0].file


def _refuse_flags(flags: Flags, there: Path) -> None:
    """Errors: ConfigError for answers that would change nothing."""
    from bot.wizard.draft import Flags as Answers

    usual = Answers()
    said = [name for name in Answers.__dataclass_fields__ if getattr(flags, name) != getattr(usual, name)]
    if said:
        option = f"--{said[0].replace('_', '-').removesuffix('s')}"
        raise ConfigError(
            f"{option}: {there} is there already, and onboard changes no settings. Leave the option out, change the file, "
            "or start over: signalbox init --force"
        )


def _look_and_try(report: Report, task: str | None, patience: timedelta, tell: Tell) -> None:
    from bot.onboarding.first_task import FIRST_TASK, try_first_task
    from bot.onboarding.looking import look
    from bot.settings.settings import load_usable
    from bot.telemetry import logs

    settings, faults = load_usable(report.file, ask=asking())
    if flags := running_flags(settings):
        settings, faults = load_usable(report.file, flags, ask=asking())
    mask = hide_secrets(settings)
    logs.configure("error", settings.log.format, settings.secret_values())
    report.seen = run(look(settings, faults, tell, lambda words: as_called(mask(words))))
    if not any(one.stops_the_task for one in report.seen):
        text = task or FIRST_TASK
        typer.echo(f"\nA first task: {clean(text)}")
        report.tried = run(try_first_task(_whole(settings, report.file), text, patience))
        report.next_commands = [as_called(one) for one in NEXT]


def _whole(settings: Settings, file: Path | None) -> Settings:
    """The settings as a process takes them: what can be used of faulty ones is no basis for work."""
    from bot.settings.settings import load

    return load(file, settings.flags, demand=(), ask=asking())


def _tell_nothing(_: Seen) -> None:
    """The report has it."""


class _Printed:
    """Prints what was found; of what is well, the first line on each subject."""

    def __init__(self) -> None:
        self._subjects: set[str] = set()

    def tell(self, seen: Seen) -> None:
        found = seen.finding
        subject = found.id.partition(".")[0]
        if found.level == "ok" and subject in self._subjects:
            return
        self._subjects.add(subject)
        mark, colour = LEVEL_MARKS[found.level]
        cause = f"{seen.cause}: " if seen.cause else ""
        typer.echo(f"{typer.style(f'{mark:<6}', fg=colour)}  {subject:<10}  {cause}{clean(found.what)}")
        if found.level != "ok":
            typer.echo(f"{BELOW}{clean(found.why)} To fix it: {clean(found.fix)}")


def _tell_the_end(report: Report) -> None:
    if report.failure:
        cause, what = report.failure
        typer.echo(f"signalbox: {cause}: {what}", err=True)
        return
    if report.tried:
        _tell_task(report.tried)
    if report.trouble is None:
        typer.echo("\nEverything works. Next:")
        width = max(len(as_called(command)) for command in NEXT)
        for command, words in NEXT.items():
            typer.echo(f"  {as_called(command):<{width}}   {words}")
    elif report.code == 1:
        typer.echo(f"\nMend this first, then try again: {as_called(AFTER_A_FAULT)}")


def _tell_task(tried: Tried) -> None:
    mark, colour = LEVEL_MARKS["error" if tried.cause else "ok"]
    head = f"{typer.style(f'{mark:<6}', fg=colour)}  first task  "
    if tried.cause:
        typer.echo(f"{head}{tried.cause}: {clean(tried.what)}\n{BELOW}To fix it: {clean(as_called(tried.fix))}")
    else:
        tools = f", with {', '.join(tried.tools)}" if tried.tools else ""
        typer.echo(f"{head}“{clean(tried.text)}”: answered in {tried.seconds:.1f} s{tools}")
    if tried.answer:
        typer.echo("\n" + "\n".join(f"{BELOW}{line}" for line in clean(tried.answer).splitlines()))
