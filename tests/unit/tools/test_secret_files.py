"""Secrets as files: a program that reads its KUBECONFIG finds it while it runs, nobody else does, and nothing is left."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Final

import pytest

from runtime.errors import ToolFailed
from tools.sandbox.bubblewrap import Bubblewrap
from tools.sandbox.external import External
from tools.sandbox.sandbox import Provided, ShellSettings
from tools.sandbox.secret_files import (
    LENT_FILE_MAX_BYTES,
    LENT_FOLDER,
    checked,
    lent_files,
    sweep,
    without_files,
)

KUBECONFIG: Final = """\
apiVersion: v1
current-context: prod
clusters:
- name: prod
  server: https://kube.example.com:6443
users:
- name: ada
  token: eyJ-a-token-of-the-cluster
"""
KUBECTL: Final = '''\
"""A kubectl that only reads its configuration, as the real one does first."""
import os, stat, sys
path = os.environ["KUBECONFIG"]
about = os.stat(path)
text = open(path).read()
server = next(line.split(": ")[1] for line in text.splitlines() if "server:" in line)
print(f"{sys.argv[1]} at {server}, {stat.S_IMODE(about.st_mode):04o}, {about.st_uid == os.getuid()}, {len(text)}")
print("seen:", any("of-the-cluster" in open(f"/proc/{pid}/environ", errors="replace").read() for pid in ("self", "1")))
'''


@pytest.fixture
def kubectl(tmp_path: Path) -> Path:
    folder = tmp_path / "lent"
    folder.mkdir(mode=0o755)
    (folder / "kubectl.py").write_text(KUBECTL)
    return folder


async def run(sandbox: Bubblewrap | External, folder: Path, workspace: Path, command: str = "") -> str:
    provided = Provided(folder, ("kubectl.py",), {}, {"KUBECONFIG": KUBECONFIG})
    ended = await sandbox.run(command or 'python3 "$SKILL"/kubectl.py get', workspace, limit=5_000, provided=provided)
    return ended.text


async def test_a_program_reads_its_kubeconfig_in_the_sandbox(
    bubblewrap: Bubblewrap, workspace: Path, kubectl: Path
) -> None:
    expected = f"get at https://kube.example.com:6443, 0600, True, {len(KUBECONFIG)}\nseen: False\n"
    assert await run(bubblewrap, kubectl, workspace) == expected
    gone = await bubblewrap.run("ls /tmp/secrets; echo ${KUBECONFIG:-none}", workspace, limit=1_000)
    assert gone.text.endswith("none\n")
    assert sweep() == 0, "it never was on the disk"


async def test_without_a_sandbox_it_lies_in_a_folder_of_its_own_for_one_call(workspace: Path, kubectl: Path) -> None:
    external = External(ShellSettings(sandbox="external", uid=os.geteuid() or 65534))
    command = 'stat -c "%a" "$KUBECONFIG"; grep server "$KUBECONFIG"; printenv KUBECONFIG'
    mode, server, path = (await run(external, kubectl, workspace, command)).splitlines()
    assert (mode, server) == ("600", "  server: https://kube.example.com:6443")
    assert path.startswith(f"{tempfile.gettempdir()}/{LENT_FOLDER}")
    assert not Path(path).parent.exists()


def test_what_a_killed_process_left_is_swept_and_what_is_in_use_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    left = tmp_path / f"{LENT_FOLDER}left"
    left.mkdir(mode=0o700)
    (left / "KUBECONFIG").write_text(KUBECONFIG)
    with lent_files({"KUBECONFIG": KUBECONFIG}, None) as paths:
        assert sweep() == 1
        assert not left.exists()
        assert Path(paths["KUBECONFIG"]).read_text() == KUBECONFIG
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_a_file_is_refused() -> None:
    for files in ({"A": "x" * (LENT_FILE_MAX_BYTES + 1)}, {"A": "a\0b"}, dict.fromkeys("ABCDEF", "x")):
        with pytest.raises(ToolFailed, match="Nothing was run"):
            checked(files)


def test_what_a_program_prints_of_its_file_is_hidden() -> None:
    told = without_files("token is eyJ-a-token-of-the-cluster, at prod", {"KUBECONFIG": KUBECONFIG})
    assert told == "token is [secret KUBECONFIG], at prod"
