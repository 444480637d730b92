"""Files of a text type pass the leak guard before they are sent, and the room is told of one that isn't."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from runtime.contract import Content, FileRef
from runtime.delivery import sent_files
from runtime.delivery.couriers import Couriers
from runtime.delivery.sent_files import SentFiles
from runtime.domain.ids import new_id
from runtime.guard.door import Door, Told, told_nobody
from runtime.guard.findings import Detector, Finding, Gate, Strictness
from runtime.guard.guard import Guard, GuardRules
from runtime.workspace.workspaces import WorkspaceFolders
from tests.contract.courier.stage import Stage
from tests.unit.guard.secrets import SECRETS

SECRET = SECRETS["github"][1]
PLAIN, KEYS = b"a,b\n1,2\n", f"name,key\nada,{SECRET}\n".encode()
WITHHELD = "isn't sent"


async def sent(
    stage: Stage, folder: Path, action: Strictness, told: Told = told_nobody, **files: bytes
) -> tuple[Content, dict[str, bytes]]:
    """A message with `files`, by name, as it is in the outbox; and the files as they are sent, by name."""
    workspaces, new = WorkspaceFolders(folder, "main"), stage.new("here you are")
    home = workspaces.folder(new.address)
    for name, data in files.items():
        (home / f"{name}.csv").write_bytes(data)
    attached = tuple(FileRef(f"{name}.csv", f"{name}.csv", len(data)) for name, data in files.items())
    door = Door(Guard(GuardRules({Detector.SHAPE: action})), told=told)
    couriers = Couriers(
        [await stage.courier()], stage.store.outbox, door=door, files=SentFiles(workspaces, door, new_id)
    )
    await couriers.post(replace(new, content=replace(new.content, files=attached)))
    [row] = await stage.outbox()
    content = row.content
    return content, {one.name: (home / one.path).read_bytes() for one in content.files}


async def test_a_secret_in_a_file_is_taken_out_and_the_file_keeps_its_name(stage: Stage, tmp_path: Path) -> None:
    content, files = await sent(stage, tmp_path, Strictness.REDACT, plain=PLAIN, keys=KEYS)
    assert files["plain.csv"] == PLAIN
    assert files["keys.csv"].startswith(b"name,key\nada,[redacted: GitHub token")
    assert [one.size for one in content.files] == [len(data) for data in files.values()]
    assert content.text == "here you are"


async def test_a_file_that_is_only_warned_of_is_sent_as_it_is(stage: Stage, tmp_path: Path) -> None:
    assert (await sent(stage, tmp_path, Strictness.WARN, keys=KEYS))[1] == {"keys.csv": KEYS}


async def test_a_file_that_is_withheld_is_told(stage: Stage, tmp_path: Path) -> None:
    content, files = await sent(stage, tmp_path, Strictness.ENFORCE, plain=PLAIN, keys=KEYS)
    assert files == {"plain.csv": PLAIN}
    assert f"keys.csv {WITHHELD}: it holds GitHub token" in content.text
    assert SECRET not in content.text


async def test_what_is_found_is_told_in_the_loop(stage: Stage, tmp_path: Path) -> None:
    """Files are read beside it, and what counts findings rings an event of the loop."""
    found: list[tuple[str, bool]] = []

    def told(gate: Gate, _room: str, finding: Finding) -> None:
        found.append((f"{finding.name} at {gate}", asyncio.get_running_loop().is_running()))

    await sent(stage, tmp_path, Strictness.REDACT, told, plain=PLAIN, keys=KEYS)
    assert found == [("GitHub token at delivery", True)]


async def test_a_file_with_many_secrets_names_a_few_of_them(stage: Stage, tmp_path: Path) -> None:
    many = "\n".join(f"ghp_{number:036d}" for number in range(50)).encode()
    content, files = await sent(stage, tmp_path, Strictness.ENFORCE, keys=many)
    assert files == {}
    assert content.text.count("GitHub token") == 3
    assert content.text.endswith("more.*")


@pytest.mark.parametrize("action", [Strictness.WARN, Strictness.REDACT])
async def test_a_file_that_is_too_large_to_search_goes_by_the_mode(
    stage: Stage, tmp_path: Path, action: Strictness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sent_files, "FILE_MOST_BYTES", len(PLAIN))
    content, files = await sent(stage, tmp_path, action, plain=PLAIN, large=PLAIN * 2)
    assert ("large.csv" in files) is (action is Strictness.WARN)
    assert (f"large.csv {WITHHELD}" in content.text) is (action is Strictness.REDACT)
