"""`[skills]` and `[skills.NAME]`: folders of skills, and the variables and secrets of single ones."""

from __future__ import annotations

from typing import Annotated, ClassVar, Final

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from bot.settings.mcp import Variable
from runtime.domain.skills.skill import RESERVED_VARIABLES, SKILL_NAME_MAX_CHARS
from runtime.settings.types import Place, Section

FOLDERS_MAX: Final = 20


def _settable(name: str) -> str:
    if name.upper() in RESERVED_VARIABLES:
        raise ValueError("a variable that doesn't change how programs are run")
    return name


SkillVariable = Annotated[Variable, AfterValidator(_settable)]


class SkillTable(Section):
    """Variables and secrets for the scripts of one skill, which gets only what its SKILL.md declares: [skills.md](skills.md#scripts)."""

    variables: dict[SkillVariable, str] = Field(default={}, description="Variables, with their values.")
    secrets: tuple[SkillVariable, ...] = Field(
        default=(), description="Names of variables or sealed secrets to hand to its scripts, under the same names."
    )
    secret_files: tuple[SkillVariable, ...] = Field(
        default=(),
        max_length=5,
        description="Like `secrets`, as files: a script gets the path, for programs that read a file, such as `KUBECONFIG`. "
        "The secret is the file's text, or the path of a file on this machine.",
    )


class SkillsSection(Section):
    """Skills: [skills.md](skills.md). Besides `folders` it holds a table for each skill that needs one, `[skills.NAME]`."""

    model_config = ConfigDict(extra="allow")
    NAMED: ClassVar[type[BaseModel]] = SkillTable
    __pydantic_extra__: dict[str, SkillTable] = Field(init=False)

    folders: tuple[Place, ...] = Field(
        default=(),
        max_length=FOLDERS_MAX,
        description="Folders of skills, beside `skills/` next to the settings file. On several nodes they are needed on each.",
    )

    proposals: bool = Field(
        default=True,
        description="Let agents propose skills, and changes of those beside the settings file. An owner decides about each: "
        "[skills.md](skills.md#skills-that-agents-propose).",
    )

    @model_validator(mode="after")
    def _names(self) -> SkillsSection:
        for name in self.named:
            if len(name) > SKILL_NAME_MAX_CHARS or not name.replace("-", "").isalnum() or name != name.lower():
                raise ValueError(f'"{name[:80]}" is not the name of a skill: small letters, digits and dashes')
        return self

    @property
    def named(self) -> dict[str, SkillTable]:
        """Tables of single skills, by name."""
        return dict(self.__pydantic_extra__ or {})
