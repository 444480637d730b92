"""Programs of the machine that tools call in the sandbox: is git there."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from typing import Final

from bot.doctor.subject import Subject, fine, warning
from runtime.contract import Finding
from tools.sandbox.sandbox import PATH

WHY_GIT: Final = "Agents can't look at repositories or commit to them."


async def check_git(subject: Subject) -> Sequence[Finding]:
    if shutil.which("git", path=PATH) is None:
        return [
            warning(
                "git.there", "git is not installed", WHY_GIT, "install git, where agents are to work with repositories"
            )
        ]
    servers = ", ".join(table.url for table in subject.settings.git) or "no server ([[git]])"
    found = [fine("git.there", f"git is installed; agents may reach {servers}")]
    found += [
        warning(
            "git.token",
            f"{table.url} has no token",
            "Agents only read what is public there, and push nothing.",
            "set token_env",
        )
        for table in subject.settings.git
        if table.token is None
    ]
    return found
