"""A workspace as the runtime makes one, beside a file that no tool may reach."""

import os
from pathlib import Path

import pytest

from runtime.contract import RunId, SessionKey, ToolContext
from tools.files.workspace import own
from tools.sandbox.bubblewrap import Bubblewrap
from tools.sandbox.shell import ShellSettings

SECRET = "the secret outside"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """An empty workspace. Its parent holds `secret.txt`."""
    (tmp_path / "secret.txt").write_text(SECRET)
    folder = tmp_path / "workspace"
    folder.mkdir()
    own(folder, ShellSettings().uid)
    return folder


@pytest.fixture
def context(workspace: Path) -> ToolContext:
    return ToolContext(workspace, SessionKey("s"), RunId("r"), "c")


@pytest.fixture
async def bubblewrap() -> Bubblewrap:
    """Bubblewrap with the default limits."""
    return await working(ShellSettings())


async def working(settings: ShellSettings) -> Bubblewrap:
    """A bubblewrap that passed its self-test; where the machine cannot have one, a skip (in CI a failure) says why."""
    sandbox = Bubblewrap(settings)
    if trouble := await sandbox.self_test():
        if os.environ.get("CI") == "true":
            pytest.fail(trouble)
        pytest.skip(trouble)
    return sandbox
