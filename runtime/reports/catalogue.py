"""The reports that are made without a model: those that come along, and templates that people plan."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

from runtime.contract import Job, Json, Now, Task, TaskKind
from runtime.reports.templates import TemplateModel, Unmade
from runtime.templating.renderer import Renderer
from runtime.templating.sheet import Sheet, TemplateError, read_sheet, with_options

ENDING: Final = ".md.j2"


class Catalogue:
    """Reports by name: the templates of a folder, read when they are first asked for."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._sheet = cache(self._read)

    def names(self) -> list[str]:
        return sorted(path.name.removesuffix(ENDING) for path in self._folder.glob(f"*{ENDING}"))

    def sheet(self, name: str, options: Mapping[str, Json] | None = None) -> Sheet:
        """The report `name`, with `options` in place of its own. Errors: TemplateError lists what there is."""
        if name not in self.names():
            raise TemplateError(f"there is no report {name!r}. There are: {', '.join(self.names())}.")
        return with_options(self._sheet(name), options or {})

    def _read(self, name: str) -> Sheet:
        return read_sheet(name, (self._folder / f"{name}{ENDING}").read_text("utf-8"))


class Reporters:
    """Speaks in place of the model, for one job after another: `AgentLoop(reporter=Reporters(...))`."""

    def __init__(self, catalogue: Catalogue, *, renderer: Renderer, now: Now) -> None:
        self._catalogue = catalogue
        self._renderer = renderer
        self._now = now

    def __call__(self, job: Job) -> TemplateModel | Unmade:
        try:
            sheet = sheet_of(job.task, job.name, self._catalogue)
        except TemplateError as error:
            return Unmade(str(error))
        return TemplateModel(job, sheet, renderer=self._renderer, now=self._now)


def sheet_of(task: Task, name: str, catalogue: Catalogue) -> Sheet:
    """Sheet that is rendered for a task. Errors: TemplateError, also for a prompt, which is none."""
    match task.kind:
        case TaskKind.REPORT:
            return catalogue.sheet(task.text, task.options)
        case TaskKind.TEMPLATE:
            return with_options(read_sheet(name, task.text, task.data), task.options)
        case TaskKind.PROMPT | TaskKind.WORKFLOW | TaskKind.GOAL:
            raise TemplateError(f"{name} is a {task.kind}, not a template.")
