"""`workflows/` beside the settings file: one workflow each, as TOML or YAML."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from bot.settings.faults import Faults
from bot.settings.sources import Layers, read_file
from runtime.domain.workflows.reading import WorkflowError, read_workflow
from runtime.errors import ConfigError

WORKFLOWS_FOLDER: Final = "workflows"
WORKFLOWS: Final = "workflows"
"""The list of the settings that they stand in."""
WORKFLOW_ENDINGS: Final = (".toml", ".yaml", ".yml")
WORKFLOW_FILE_CHARS: Final = 200_000
NAMED: Final = re.compile(r"""^[ \t]*(?:-[ \t]+)?name[ \t]*[=:][ \t]*["']?([a-z0-9_]+)""", re.MULTILINE)
"""The line on which a step is named, in either form."""
REUSES: Final = re.compile(r"(?m)(?:^|[\s\[,:-])[&*][A-Za-z0-9_]+")
"""A part of YAML that is named to be put in again, by which a short text becomes endless."""


def workflow_files(start: Path) -> list[Path]:
    """Files of workflows in their order; none where there is no folder. Hidden ones are an editor's."""
    folder = start / WORKFLOWS_FOLDER
    found = (path for path in folder.glob("*") if path.suffix in WORKFLOW_ENDINGS and not path.name.startswith("."))
    return sorted(found)


def add_workflows(layers: Layers, faults: Faults, start: Path) -> None:
    """Add each file as one more table, named after the file unless it says otherwise. What can't be read is a fault, with its
    line where that is known."""
    if not isinstance(layers.get(WORKFLOWS) or [], list):
        return  # told with the setting itself
    for file in workflow_files(start):
        try:
            table = {"name": file.stem, **_table(file)}
            read_workflow(table, lines_of(file.read_text("utf-8")))
        except ConfigError as error:
            faults.add_sentence(str(error))
        except WorkflowError as error:
            faults.add_sentence(f"{file}: {error}")
        else:
            layers.add_table(WORKFLOWS, table, source=str(file))


def _table(file: Path) -> Mapping[str, Any]:
    """Errors: ConfigError."""
    if file.suffix == ".toml":
        return read_file(file)
    import yaml  # loaded for the first such file

    try:
        text = file.read_text("utf-8")
        if len(text) > WORKFLOW_FILE_CHARS or REUSES.search(text):
            raise ConfigError(
                f"{file}: write it in at most {WORKFLOW_FILE_CHARS:,} characters, without anchors (&) and aliases (*)."
            )
        found = yaml.safe_load(text)
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file}: it can't be read ({error}).") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" in line {mark.line + 1}" if mark else ""
        raise ConfigError(f"{file}: it is no YAML{where}: {getattr(error, 'problem', error)}.") from None
    if not isinstance(found, dict):
        raise ConfigError(f"{file}: a workflow is a table with name and steps.")
    return found


def lines_of(text: str) -> dict[str, int]:
    """The line on which each name first stands."""
    found: dict[str, int] = {}
    for match in NAMED.finditer(text):
        found.setdefault(match[1], text.count("\n", 0, match.start(1)) + 1)
    return found
