"""Commands in containers: each argument by a strict stand-in for podman and docker, and each container ended for certain."""

import asyncio
import os
import sys
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import pytest

from runtime.contract import CardContext, Effect, ToolContext
from runtime.contract.rooms import Boundless
from runtime.errors import ToolFailed, ToolRetry
from tests.fakes import container_program
from tests.fakes.ending import ending
from tools.containers.boxes import Containers
from tools.containers.engines import ContainerTerms, Engine, engine_of, environment, start_argv, unbounded
from tools.containers.kept_names import KeptNames
from tools.containers.tool import container_tool
from tools.sandbox.sandbox import ShellSettings

IMAGE = container_program.IMAGE
UID = ShellSettings().uid


def containers(tmp_path: Path, kind: str = "podman", seconds: float = 20) -> Containers:
    program = container_program.stand_in(tmp_path / "bin", kind)
    terms = ContainerTerms((IMAGE, "other:2"), tmp_path / "kept", str(program), timeout=timedelta(seconds=seconds))
    return Containers(terms)


async def ask(boxes: Containers, command: str, context: ToolContext, image: str = IMAGE) -> str:
    return await container_tool(boxes, Boundless()).call({"image": image, "command": command}, context)


def calls(tmp_path: Path) -> Sequence[str]:
    return (tmp_path / "bin" / "calls").read_text().splitlines()


def left(tmp_path: Path) -> list[str]:
    """Containers that work, and names that are kept."""
    return [path.name for folder in ("bin/containers", "kept") for path in (tmp_path / folder).glob("*")]


async def until_one_works(tmp_path: Path) -> str:
    async with asyncio.timeout(20):
        while not (names := [path.name for path in (tmp_path / "bin/containers").glob("*") if path.read_text()]):  # noqa: ASYNC110 - files of another process
            await asyncio.sleep(0.01)
    return names[0]


@pytest.mark.parametrize("kind", ["podman", "docker"])
async def test_a_command_works_on_the_files_of_the_room_alone(
    kind: str, tmp_path: Path, context: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-for-containers")
    monkeypatch.setenv("DOCKER_HOST", "tcp://192.0.2.1:1")
    assert await ask(containers(tmp_path, kind), "pwd; echo hi > made; exit 3", context) == (
        f"{context.workspace}\n[exit code 3]"
    )
    assert (context.workspace / "made").read_text() == "hi\n"
    assert left(tmp_path) == []
    given = {name for call in calls(tmp_path) for name in call.rsplit(" | ", 1)[1].split()} - {"PWD", "_", "SHLVL"}
    assert given <= {"PATH", "HOME", "LANG", "LC_CTYPE", "XDG_RUNTIME_DIR", "DOCKER_CONFIG"}


def test_nothing_is_mounted_but_the_room(tmp_path: Path) -> None:
    terms = ContainerTerms((IMAGE,), tmp_path, runtime="runsc")
    for kind in ("podman", "docker"):
        engine = Engine(f"/usr/bin/{kind}", kind, UID, UID, rootless=True)
        argv = start_argv(engine, terms, name="n", image=IMAGE, command="true", workspace=Path("/w"), writes=9)
        assert [argv[at + 1] for at, word in enumerate(argv) if word in ("--mount", "-v", "--volume", "--device")] == [
            "type=bind,source=/w,target=/workspace"
        ]
        assert argv.index("--runtime") < argv.index(IMAGE)
        assert argv[-3:] == [IMAGE, "-c", "true"]
        assert not {"--privileged", "--env-host", "--pid", "--ipc", "-i", "-t"} & set(argv)
    with pytest.raises(ToolFailed, match="comma"):
        start_argv(engine, terms, name="n", image=IMAGE, command="", workspace=Path("/w,source=/"), writes=9)


def test_the_card_says_image_command_mounts_and_network(tmp_path: Path, context: ToolContext) -> None:
    spec = container_tool(containers(tmp_path), Boundless()).spec
    assert spec.card is not None
    parts = spec.card({"image": IMAGE, "command": "ls"}, CardContext(context.workspace))
    assert [getattr(part, "argument", "") or getattr(part, "text", "") for part in parts] == [
        *("image", "command", "mounts this room's workspace at /workspace, and nothing else", "no network")
    ]
    assert (spec.effect, spec.seldom) == (Effect.DANGER, True)
    assert "Images: here:1, other:2." in spec.description


async def test_what_takes_too_long_is_ended_by_its_name(tmp_path: Path, context: ToolContext) -> None:
    with pytest.raises(ToolFailed, match=r"stopped after 1 s\. Until then it printed:\nhalf"):
        await ask(containers(tmp_path, seconds=1), "echo half; sleep 60", context)
    assert left(tmp_path) == []
    started, ended = (next(call for call in calls(tmp_path) if call.startswith(word)) for word in ("run", "rm"))
    assert ended.split(" | ")[0].split()[-1] in started


async def test_a_run_that_is_stopped_leaves_none(tmp_path: Path, context: ToolContext) -> None:
    async with asyncio.TaskGroup() as group:
        asked = group.create_task(ask(containers(tmp_path), "sleep 60", context))
        await until_one_works(tmp_path)
        asked.cancel()
    assert left(tmp_path) == []


async def test_what_a_killed_process_left_is_ended_at_the_next_start(tmp_path: Path, context: ToolContext) -> None:
    boxes = containers(tmp_path)
    code = (
        "import asyncio, sys; from pathlib import Path; from tools.containers.boxes import Containers;"
        "from tools.containers.engines import ContainerTerms;"
        "terms = ContainerTerms((sys.argv[1],), Path(sys.argv[2]), sys.argv[3]);"
        "asyncio.run(Containers(terms).run(sys.argv[1], 'sleep 60', Path(sys.argv[4]), limit=100, writes=100))"
    )
    given = (IMAGE, str(boxes.terms.kept), boxes.terms.program, str(context.workspace))
    async with ending(sys.executable, "-c", code, *given):
        name = await until_one_works(tmp_path)
        assert await boxes.sweep() == 0, "its process lives"
    assert left(tmp_path) == [name, name]
    assert await boxes.sweep() == 1
    assert left(tmp_path) == []


async def test_one_that_cannot_be_ended_is_tried_again(tmp_path: Path, context: ToolContext) -> None:
    boxes = containers(tmp_path, seconds=1)
    (tmp_path / "bin" / "away").touch()
    with pytest.raises(ToolFailed, match="stopped after 1 s"):
        await ask(boxes, "sleep 60", context)
    assert len(left(tmp_path)) == 2
    (tmp_path / "bin" / "away").unlink()
    assert await ask(boxes, "echo next", context) == "next\n[exit code 0]"
    assert left(tmp_path) == []


async def test_nothing_runs_where_it_cannot_be_bounded(tmp_path: Path, context: ToolContext) -> None:
    boxes = containers(tmp_path)
    (tmp_path / "bin" / "bounds").write_text("v1 true []")
    with pytest.raises(ToolFailed, match="podman can't bound memory"):
        await ask(boxes, "true", context)
    assert not any(call.startswith("run") for call in calls(tmp_path))


@pytest.mark.parametrize(
    ("kind", "told", "missing"),
    [
        ("podman", "v2 true [cpu memory pids]", ""),
        ("podman", "v2 true [memory pids]", "cgroup controllers"),
        ("podman", "v1 false []", ""),
        ("podman", "", "cgroup v2"),
        ("docker", "true true true", ""),
        ("docker", "", "memory, the number of processes, processor time"),
    ],
)
def test_bounds_are_told_by_the_program(kind: str, told: str, missing: str) -> None:
    found = unbounded(Engine("/bin/x", kind, 1, 1, rootless=False), told)  # type: ignore[arg-type]
    assert missing in found
    assert bool(missing) == bool(found)


async def test_an_image_of_no_list_is_refused_and_one_that_is_not_here_is_told(
    tmp_path: Path, context: ToolContext
) -> None:
    boxes = containers(tmp_path)
    for image in ("elsewhere:9", "--privileged", ""):
        with pytest.raises(ToolRetry, match="There are: here:1, other:2"):
            await ask(boxes, "true", context, image)
    with pytest.raises(ToolFailed, match=r"was not started, and nothing was run\. Error: other:2: image not known"):
        await ask(boxes, "true", context, "other:2")
    assert left(tmp_path) == []


@pytest.mark.parametrize("command", ["echo \0", "echo \ud83d"])
async def test_a_command_in_a_container_must_be_text(command: str, tmp_path: Path, context: ToolContext) -> None:
    with pytest.raises(ToolFailed, match="not valid text"):
        await ask(containers(tmp_path), command, context)


async def test_a_flood_is_cut(tmp_path: Path, context: ToolContext) -> None:
    said = await ask(containers(tmp_path), "yes | head -c 20000000", context)
    assert len(said) < 50_000
    assert "characters cut" in said


def test_nobody_runs_containers_as_root_or_without_a_program(tmp_path: Path) -> None:
    with pytest.raises(ToolFailed, match=r"neither|is not installed"):
        engine_of(ContainerTerms((), tmp_path, program="no-such-program"))
    if os.geteuid() == 0:
        with pytest.raises(ToolFailed, match="never run as root"):
            engine_of(ContainerTerms((), tmp_path, uid=0))
    docker = Engine("/usr/bin/docker", "docker", UID, UID, rootless=False)
    assert environment(docker)["DOCKER_CONFIG"] == "/nonexistent"


def test_a_name_is_forgotten_only_when_its_container_is_gone(tmp_path: Path) -> None:
    names = KeptNames(tmp_path / "kept")
    with names.leftovers() as none:
        assert none == []
    with names.kept("signalbox-0123456789abcdef"), names.leftovers() as held:
        assert held == []
    (tmp_path / "kept" / "notes.txt").write_text("somebody's")
    with names.leftovers() as found:
        assert [name for name, _ in found] == ["signalbox-0123456789abcdef"]
        found[0][1].is_over = True
    assert [path.name for path in (tmp_path / "kept").iterdir()] == ["notes.txt"]
