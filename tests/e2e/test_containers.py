"""Commands in containers by the real podman: what they reach, what bounds them, and that none is left, whatever is killed."""

from __future__ import annotations

import asyncio
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import pytest

from runtime.contract import RunId, SessionKey, ToolContext
from runtime.contract.rooms import Boundless
from runtime.errors import ToolFailed
from tests.e2e.house import PATIENCE, open_house
from tests.e2e.visitor import visiting
from tools.containers.boxes import Containers
from tools.containers.engines import ContainerTerms
from tools.containers.tool import container_tool
from tools.files.workspace import own
from tools.sandbox.sandbox import ShellSettings

MISSING: Final = [name for name in ("podman", "busybox") if shutil.which(name) is None]
UID: Final = ShellSettings().uid

pytestmark = [
    pytest.mark.soak,
    pytest.mark.timeout(300),
    pytest.mark.xdist_group("e2e-containers"),
    pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)}"),
    pytest.mark.skipif(
        os.geteuid() != 0, reason="bounds without root need delegated controllers, which few machines have"
    ),
]


def podman(*words: str, said: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(["podman", *words], input=said, capture_output=True, timeout=120, check=False)


@pytest.fixture(scope="module")
def image() -> Iterator[str]:
    """An image of this machine's busybox, which must be a static one."""
    name, files = f"localhost/signalbox-test-{uuid4().hex[:8]}:1", io.BytesIO()
    program = Path(shutil.which("busybox") or "").resolve()
    told = subprocess.run([program, "--list"], capture_output=True, text=True, check=True).stdout.split()
    with tarfile.open(fileobj=files, mode="w") as archive:
        archive.add(program, "bin/busybox")
        for link in sorted({*told} - {"busybox"}):
            entry = tarfile.TarInfo(f"bin/{link}")
            entry.type, entry.linkname = tarfile.SYMTYPE, "busybox"
            archive.addfile(entry)
        for folder in ("tmp", "workspace", "proc", "sys", "dev", "etc"):
            entry = tarfile.TarInfo(folder)
            entry.type, entry.mode = tarfile.DIRTYPE, 0o1777 if folder == "tmp" else 0o755
            archive.addfile(entry)
    made = podman("import", "--quiet", "-", name, said=files.getvalue())
    assert made.returncode == 0, made.stderr
    try:
        yield name
    finally:
        podman("rmi", "--force", name)


@pytest.fixture(scope="module")
def runtime(image: str) -> str:
    """The OCI runtime that works here, empty for podman's own choice: crun refuses hybrid cgroups."""
    tried = {}
    for name in ("", "runc"):
        usual = ["--runtime", name] if name else []
        limits = ["--ulimit", "nproc=4096:4096", "--ulimit", "nofile=1024:1024"]
        told = podman(*usual, "run", "--rm", "--network", "none", *limits, image, "/bin/true")
        if told.returncode == 0:
            return name
        tried[name] = told.stderr.decode()[-300:]
    pytest.skip(f"podman runs no container here: {tried}")


@pytest.fixture
def context(tmp_path: Path) -> ToolContext:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    own(workspace, UID)
    return ToolContext(workspace, SessionKey("s"), RunId("r"), "c")


@pytest.fixture
def terms(image: str, runtime: str, tmp_path: Path) -> ContainerTerms:
    return ContainerTerms((image,), tmp_path / "kept", "podman", runtime)


async def ask(terms: ContainerTerms, command: str, context: ToolContext) -> str:
    called = {"image": terms.images[0], "command": command}
    return await container_tool(Containers(terms), Boundless()).call(called, context)


def kept(terms: ContainerTerms) -> list[str]:
    return sorted(path.name for path in terms.kept.glob("signalbox-*"))


def is_there(name: str) -> bool:
    return podman("container", "exists", name).returncode == 0


async def until_there(terms: ContainerTerms, workspace: Path) -> str:
    """The name of the container that works; its command has made the file `begun`."""
    async with asyncio.timeout(PATIENCE):
        while not (workspace / "begun").exists():  # noqa: ASYNC110 - a file of another process
            await asyncio.sleep(0.1)
    [name] = kept(terms)
    assert is_there(name)
    return name


async def test_a_container_reaches_the_files_of_the_room_alone(
    terms: ContainerTerms, context: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-for-containers")
    monkeypatch.setenv("https_proxy", "http://user:secret@proxy.example:1")
    (context.workspace / "given").write_text("mine")
    said = await ask(
        terms,
        "id -u; cat given; echo hi > made; touch /x; touch /tmp/x && echo tmp; ls /sys/class/net; grep -c : /proc/net/dev;"
        "nc -w 2 192.0.2.1 80 < /dev/null || echo unreachable; env; grep CapEff /proc/self/status; grep NoNewPrivs /proc/self/status",
        context,
    )
    assert said.startswith(f"{UID}\nmine")
    assert "touch: /x: Read-only file system" in said
    assert "tmp\nlo\n1\n" in said, "no device of a network but its own"
    assert "unreachable" in said
    assert "CapEff:\t0000000000000000" in said
    assert "NoNewPrivs:\t1" in said
    assert "secret" not in said
    assert "sk-not" not in said
    assert (context.workspace / "made").read_text() == "hi\n"
    assert (context.workspace / "made").stat().st_uid == UID
    assert kept(terms) == []


async def test_memory_processes_and_output_are_bounded(terms: ContainerTerms, context: ToolContext) -> None:
    small = ContainerTerms(terms.images, terms.kept, "podman", terms.runtime, memory_mib=64)
    assert "137" in (await ask(small, "tail /dev/zero", context)).splitlines()[-1], "killed by the kernel"
    many = await ask(terms, "for one in $(seq 150); do sleep 20 & done; echo all 150 run", context)
    assert "can't fork" in many
    assert "all 150 run" not in many
    flood = await ask(terms, "yes | head -c 20000000", context)
    assert len(flood) < 50_000
    assert "characters cut" in flood
    large = ContainerTerms(terms.images, terms.kept, "podman", terms.runtime, file_mib=1)
    assert "File size limit exceeded" in await ask(
        large, "dd if=/dev/zero of=big bs=1M count=3 2>&1; ls -l big", context
    )
    assert (context.workspace / "big").stat().st_size == 1 << 20
    assert kept(terms) == []


async def test_one_that_takes_too_long_and_one_that_is_stopped_are_gone(
    terms: ContainerTerms, context: ToolContext
) -> None:
    short = ContainerTerms(terms.images, terms.kept, "podman", terms.runtime, timeout=timedelta(seconds=8))
    forever = "trap '' TERM INT; echo half; touch begun; while true; do sleep 1; done"
    async with asyncio.TaskGroup() as group:
        asked = group.create_task(_told(ask(short, forever, context)))
        late = await until_there(terms, context.workspace)
    assert "stopped after 8 s. Until then it printed:\nhalf" in asked.result()
    (context.workspace / "begun").unlink()
    async with asyncio.TaskGroup() as group:
        stopped = group.create_task(ask(terms, forever, context))
        other = await until_there(terms, context.workspace)
        stopped.cancel()
    assert (is_there(late), is_there(other), kept(terms)) == (False, False, [])


async def test_what_a_killed_process_left_is_ended_by_the_next_sweep(
    terms: ContainerTerms, context: ToolContext
) -> None:
    code = (
        "import asyncio, sys; from pathlib import Path; from tools.containers.boxes import Containers;"
        "from tools.containers.engines import ContainerTerms;"
        "terms = ContainerTerms((sys.argv[1],), Path(sys.argv[2]), 'podman', sys.argv[3]);"
        "command = 'touch begun; sleep 55';"
        "asyncio.run(Containers(terms).run(sys.argv[1], command, Path(sys.argv[4]), limit=100, writes=100))"
    )
    given = (terms.images[0], str(terms.kept), terms.runtime, str(context.workspace))
    killed = await asyncio.create_subprocess_exec(sys.executable, "-c", code, *given)
    name = await until_there(terms, context.workspace)
    killed.send_signal(signal.SIGKILL)
    await killed.wait()
    assert is_there(name), "its container outlives it"
    assert await Containers(terms).sweep() == 1
    assert (is_there(name), kept(terms)) == (False, [])


async def test_signalbox_killed_in_mid_call_leaves_none_once_it_is_back(
    image: str, runtime: str, tmp_path: Path
) -> None:
    settings = f'[tools.containers]\nimages = ["{image}"]\nprogram = "podman"\nruntime = "{runtime}"\n'
    call = json.dumps({"image": image, "command": "date >> runs; touch begun; sleep 50"})
    with open_house(tmp_path, settings) as house:
        async with visiting(house.link) as owner:
            room = uuid4().hex
            question = await owner.question(room, f"call container_exec {call}")
            assert (await owner.click(room, question, "approve")).status == 200
            runs = await _begun(house.data)
            [name] = [path.name for path in (house.data / "containers").glob("signalbox-*")]
            house.kill()
            assert is_there(name)
            house.start()
        async with asyncio.timeout(PATIENCE):
            while is_there(name):  # noqa: ASYNC110 - another program
                await asyncio.sleep(0.2)
        async with visiting(house.link) as owner:
            await owner.settled(room)
        assert len(runs.read_text().splitlines()) == 1, "what was approved once runs once"
        assert not [*(house.data / "containers").glob("signalbox-*")]


async def _begun(data: Path) -> Path:
    """The file in which the command tells that it ran."""
    async with asyncio.timeout(PATIENCE):
        while not (found := _files(data)):  # noqa: ASYNC110 - of another process
            await asyncio.sleep(0.1)
    return found[0].with_name("runs")


def _files(data: Path) -> list[Path]:
    return [*data.glob("workspaces/**/begun")]


async def _told(asked: Any) -> str:
    try:
        return str(await asked)
    except ToolFailed as error:
        return str(error)
