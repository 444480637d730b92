"""`[tools.builds]`: commands in place of our own that test and compile projects."""

from __future__ import annotations

from pydantic import Field

from runtime.settings.types import Section


class BuildsSection(Section):
    """Commands for `run_tests` and `compile`: [processes.md](processes.md)."""

    test: str = Field(
        default="",
        description="Command line that tests a project, in its folder; `{pattern}` is the part of tests' names that is wanted, "
        "quoted. Empty: by the project's files.",
    )
    compile: str = Field(default="", description="Command line that compiles a project. Empty: by the project's files.")
