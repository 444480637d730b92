"""Places of skills by the settings, and what a skill lacks here."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from bot.settings.agents.folder import AGENTS_FOLDER
from bot.settings.settings import Settings
from bot.settings.skills.tables import SkillTable
from bot.settings.sources import config_folder
from runtime.domain.skills.skill import Skill, Source
from runtime.errors import ToolFailed
from runtime.skills.shelf import Shelf, ShelfPlace
from tools.sandbox.sandbox import PATH

SHIPPED_SKILLS: Final = Path(__file__).parents[3] / "config" / "skills"
SECRET_FILE_MAX_BYTES: Final = 1 << 20
SKILLS_FOLDER: Final = "skills"
NOTHING_HANDED: Final = SkillTable()


def places_of(settings: Settings) -> list[ShelfPlace]:
    """Places in their order: the later one's skill counts. What is not there yet may come."""
    found = [ShelfPlace(SHIPPED_SKILLS, Source.SHIPPED)]
    if config := config_folder(settings.chain.variables):
        found.append(ShelfPlace(config / SKILLS_FOLDER, Source.USER))
    if own := own_folder(settings):
        found.append(ShelfPlace(own, Source.USER))
    found += [ShelfPlace(folder, Source.SETTINGS) for folder in settings.skills.folders]
    return [*found, *_of_agents(settings)]


def own_folder(settings: Settings) -> Path | None:
    """The folder beside the settings file, where `skills install` puts them; None without such a file."""
    return settings.file.parent / SKILLS_FOLDER if settings.file else None


def can_be_written(settings: Settings) -> bool:
    """True if this process may make and change skills beside the settings file, as far as a look tells."""
    folder = own_folder(settings)
    if folder is None:
        return False
    return os.access(folder if folder.exists() else folder.parent, os.W_OK | os.X_OK)


def _of_agents(settings: Settings) -> Iterator[ShelfPlace]:
    if settings.file is not None:
        for table in settings.agents:
            folder = settings.file.parent / AGENTS_FOLDER / table.name / SKILLS_FOLDER
            yield ShelfPlace(folder, Source.AGENT, table.name)


def uses_skills(settings: Settings) -> bool:
    """True if an agent names skills, or some were put here."""
    named = any(table.skills for table in settings.agents)
    here = [place for place in places_of(settings) if place.source is not Source.SHIPPED]
    return named or not Shelf(lambda: here).is_empty()


def lacks_of(settings: Settings, skill: Skill) -> list[str]:
    """Programs, variables and secrets that a skill declares and that aren't here, in words."""
    table = settings.skills.named.get(skill.name, NOTHING_HANDED)
    needs = skill.needs
    programs = [f"the program {name}" for name in needs.bins if shutil.which(name, path=PATH) is None]
    variables = [f"the variable {name}" for name in needs.variables if name not in table.variables]
    secrets = [f"the secret {name}" for name in needs.secrets if not secret_of(settings, table, name)]
    return [*programs, *variables, *secrets]


def secret_of(settings: Settings, table: SkillTable, name: str) -> str:
    """A secret that the settings hand to a skill; empty where they don't, or where there is none."""
    if name not in (*table.secrets, *table.secret_files):
        return ""
    if value := settings.chain.variables.get(name):
        return value
    found = settings.chain.find(name)
    return found.value if found else ""


def variables_of(settings: Settings, skill: Skill) -> dict[str, str]:
    """All that its scripts get: what it declares and the settings hand to it, and nothing else."""
    table, needs = settings.skills.named.get(skill.name, NOTHING_HANDED), skill.needs
    plain = {name: table.variables[name] for name in needs.variables if name in table.variables}
    handed = (name for name in needs.secrets if name not in table.secret_files)
    return plain | {name: value for name in handed if (value := secret_of(settings, table, name))}


def secret_files_of(settings: Settings, skill: Skill) -> dict[str, str]:
    """Texts of the files that its scripts get, by the variables that name them. Blocks. Errors: ToolFailed."""
    table, needs = settings.skills.named.get(skill.name, NOTHING_HANDED), skill.needs
    wanted = (name for name in needs.secrets if name in table.secret_files)
    return {name: _text_of(name, value) for name in wanted if (value := secret_of(settings, table, name))}


def _text_of(name: str, value: str) -> str:
    """The text itself, or that of the file which a path of one line names."""
    if not value.startswith("/") or "\n" in value:
        return value
    try:
        with Path(value).open("rb") as file:
            return file.read(SECRET_FILE_MAX_BYTES).decode()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no text"
        raise ToolFailed(f"The file of the secret {name} can't be read ({why}). Nothing was run.") from None


def undeclared(settings: Settings, skill: Skill) -> Sequence[str]:
    """Names that the settings hand to a skill which doesn't ask for them: it doesn't get them."""
    table, needs = settings.skills.named.get(skill.name, NOTHING_HANDED), skill.needs
    return [
        name
        for name in (*table.variables, *table.secrets, *table.secret_files)
        if name not in (*needs.variables, *needs.secrets)
    ]
