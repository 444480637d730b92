"""`[[workflows]]` and `workflows/*.toml` or `*.yaml`: work of several steps."""

from __future__ import annotations

from typing import Any, Self

from pydantic import Field, model_validator

from runtime.domain.workflows.definition import Workflow
from runtime.domain.workflows.reading import WorkflowError, read_workflow
from runtime.settings.types import Section, Text


class WorkflowTable(Section):
    """A workflow: [workflows.md](workflows.md)."""

    name: Text = Field(
        description='What it is called, such as "weekly-report"; in `workflows/` the name of the file, unless it is given.'
    )
    about: str = Field(default="", description="What it is for, in a line.")
    agent: str = Field(default="", description="The agent whose tools it calls. Default: the main agent.")
    inputs: dict[str, Any] = Field(
        default={},
        description='What whoever starts it may give, by name: a default, or a table with `type`, `default` and `about`, such as `since = "7 days"`.',
    )
    steps: list[dict[str, Any]] = Field(
        description='Its steps, a table each: [workflows.md](workflows.md#steps), such as `{ name = "fetch", tool = "http_get" }`.'
    )
    report: str = Field(
        default="",
        description="Its last words, with `{{ … }}` for values. Default: what its last step gave.",
    )

    @model_validator(mode="after")
    def _read(self) -> Self:
        try:
            _ = self.flow
        except WorkflowError as error:
            raise ValueError(f"a workflow that can be read. {str(error).removesuffix('.')}") from None
        return self

    @property
    def flow(self) -> Workflow:
        return read_workflow(self.model_dump(exclude_unset=True))
