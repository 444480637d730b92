"""Bombs inside the sandbox of the shell, in a room of eight MiB: of disk, memory, processes, descriptors.

Nothing of ours unpacks what people send, so an archive that is a bomb goes off in a command or nowhere.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from runtime.errors import ToolFailed
from runtime.workspace.disk_space import DiskBounds, DiskSpace
from tools.files.workspace import own
from tools.sandbox.bubblewrap import Bubblewrap
from tools.sandbox.sandbox import ShellSettings
from tools.sandbox.spaced import SpacedSandbox

MIB: Final = 1 << 20
AT_ONCE: Final = 3  # most of them wait for half a second, to be stopped
SETTINGS: Final = replace(ShellSettings(), memory_mib=256, processes=40, timeout_seconds=15)
FULL: Final = "This room's files have reached their limit of 8 MiB"
EMPTY: Final = "chmod -R u+rwx . 2>/dev/null; find . -mindepth 1 -delete"
LONG: Final = "n=$(printf 'd%.0s' {1..200})"


@dataclass(frozen=True)
class Room:
    """A workspace, and commands in it under the bounds that a process sets."""

    folder: Path
    space: DiskSpace
    sandbox: SpacedSandbox
    told: list[str] = field(default_factory=list)

    async def run(self, command: str) -> str:
        """Give what the model reads, also of a command that was stopped or not run."""
        try:
            text = (await self.sandbox.run(command, self.folder, limit=5_000)).text
        except ToolFailed as error:
            text = str(error)
        self.told.append(f"{command[:60]} -> {text[-300:]}")
        return text

    async def is_full(self) -> bool:
        return await self.space.shortage(self.folder) is not None


async def a_loop_that_fills_the_disk(room: Room) -> bool:
    told = await room.run("i=0; while :; do i=$((i+1)); head -c 1M /dev/zero > f$i || exit 9; done")
    return told.startswith("The command was stopped.") and FULL in told


async def many_writers_at_once(room: Room) -> bool:
    writer = "(i=0; while :; do i=$((i+1)); head -c 1M /dev/zero > $j.$i || exit 9; done) &"
    return FULL in await room.run(f"for j in 1 2 3 4 5; do {writer} done; wait")


async def nothing_is_written_in_a_full_room(room: Room) -> bool:
    await room.run("for i in 1 2 3; do head -c 4M /dev/zero > $i; done")
    told = await room.run("echo more > new; ls -s new; echo more >> 1")
    return await room.is_full() and "0 new" in told and FULL in told


async def a_full_room_is_emptied_by_a_command(room: Room) -> bool:
    await room.run("for i in 1 2 3; do head -c 4M /dev/zero > $i; done")
    refused = await room.is_full()
    told = await room.run("rm 1 2 3; echo removed")
    return refused and told == "removed\n" and not await room.is_full()


async def one_file_as_large_as_what_is_left(room: Room) -> bool:
    await room.run("head -c 4M /dev/zero > old; head -c 100M /dev/zero > new")
    return (room.folder / "new").stat().st_size <= 8 * MIB


async def a_sparse_file_of_a_tebibyte(room: Room) -> bool:
    told = await room.run(
        "truncate -s 1T sparse && echo made; dd if=/dev/zero of=far bs=1 count=1 seek=1T && echo made"
    )
    return "made" not in told and not await room.is_full()


async def sparse_files_count_what_they_take(room: Room) -> bool:
    told = await room.run("for i in 1 2 3 4 5; do truncate -s 7M s$i; done; echo made")
    return told == "made\n" and not await room.is_full()


async def a_file_that_is_allocated_and_not_written(room: Room) -> bool:
    await room.run("command -v fallocate && for i in 1 2 3; do fallocate -l 7M a$i || head -c 7M /dev/zero > a$i; done")
    return await room.is_full()


async def a_million_tiny_files(room: Room) -> bool:
    return FULL in await room.run("i=0; while [ $((i+=1)) -lt 1000000 ]; do : > t$i; done; echo all")


async def a_folder_deeper_than_a_path(room: Room) -> bool:
    """Nobody can count what is in it, so it counts as full."""
    return FULL in await room.run(f"{LONG}; for i in {{1..40}}; do mkdir $n && cd $n; done 2>/dev/null; :")


async def a_folder_that_is_shut(room: Room) -> bool:
    return FULL in await room.run("mkdir shut; for i in 1 2; do head -c 5M /dev/zero > shut/$i; done; chmod 0 shut")


async def an_archive_that_unpacks_to_much(room: Room) -> bool:
    made = await room.run("head -c 64M /dev/zero | gzip -1 > bomb.gz; ls bomb.gz; gzip -dc bomb.gz > out; ls -l out")
    return ("bomb.gz" in made or FULL in made) and (room.folder / "out").stat().st_size <= 8 * MIB


async def a_fork_bomb(room: Room) -> bool:
    """Counted from inside, by a shell that needs no other process.

    It reads a folder that changes meanwhile, so it may count those that came and those that went: up to twice as many.
    """
    count = "m=0; for i in {1..3000}; do set -- /proc/[0-9]*; [ $# -gt $m ] && m=$#; done; echo most $m"
    told = await room.run(f"b() {{ b | b & }}; b 2>/dev/null & {count}")
    most = int(told.rpartition("most ")[2].split()[0]) if "most " in told else 0
    return 10 < most <= 2 * SETTINGS.processes


async def after_a_fork_bomb_the_next_command_runs(room: Room) -> bool:
    await room.run("b() { b | b & }; b 2>/dev/null & :")
    return await room.run("(echo fine)") == "fine\n"


async def a_bomb_of_memory_dies_alone(room: Room) -> bool:
    told = await room.run("tail /dev/zero; echo code $?; echo alive")
    return "alive" in told and "code 0" not in told


async def bombs_of_memory_side_by_side(room: Room) -> bool:
    told = await room.run("for i in 1 2 3; do (tail /dev/zero || echo died) & done; wait; echo alive")
    return told.count("died") == 3 and "alive" in told


async def its_processes_are_the_first_to_go(room: Room) -> bool:
    return await room.run("(cat /proc/self/oom_score_adj)") == "900\n"


async def nothing_inside_lowers_its_own_score(room: Room) -> bool:
    told = await room.run("{ echo 0 > /proc/self/oom_score_adj; } 2>/dev/null; (cat /proc/self/oom_score_adj)")
    return told == "900\n"


async def shared_memory(room: Room) -> bool:
    small = replace(SETTINGS, file_mib=4)
    other = replace(room, sandbox=SpacedSandbox(Bubblewrap(small), room.space))
    return "No space left" in await other.run("for i in 1 2 3; do head -c 3M /dev/zero > /dev/shm/$i; done; echo")


async def descriptors(room: Room) -> bool:
    told = await room.run("for i in {1..2000}; do exec {f}</dev/null || exit; done 2>&1; echo all; ")
    return "Too many open files" in told and "all" not in told


async def output_without_end(room: Room) -> bool:
    return len(await room.run("yes | head -c 50000000")) < 6_000


Bomb = Callable[[Room], Awaitable[bool]]
BOMBS: Final[tuple[Bomb, ...]] = (
    a_loop_that_fills_the_disk,
    many_writers_at_once,
    nothing_is_written_in_a_full_room,
    a_full_room_is_emptied_by_a_command,
    one_file_as_large_as_what_is_left,
    a_sparse_file_of_a_tebibyte,
    sparse_files_count_what_they_take,
    a_file_that_is_allocated_and_not_written,
    a_million_tiny_files,
    a_folder_deeper_than_a_path,
    a_folder_that_is_shut,
    an_archive_that_unpacks_to_much,
    a_fork_bomb,
    after_a_fork_bomb_the_next_command_runs,
    a_bomb_of_memory_dies_alone,
    bombs_of_memory_side_by_side,
    its_processes_are_the_first_to_go,
    nothing_inside_lowers_its_own_score,
    shared_memory,
    descriptors,
    output_without_end,
)


async def bombs(folder: Path) -> list[tuple[bool, str]]:
    """Try every bomb, each in a room of its own. Errors: RuntimeError says why there is no sandbox on this machine."""
    sandbox = Bubblewrap(SETTINGS)
    if trouble := await sandbox.self_test():
        raise RuntimeError(trouble)
    some = asyncio.Semaphore(AT_ONCE)
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(_tried(bomb, folder, sandbox, some)) for bomb in BOMBS]
    return [task.result() for task in tasks]


async def _tried(bomb: Bomb, folder: Path, sandbox: Bubblewrap, some: asyncio.Semaphore) -> tuple[bool, str]:
    place = folder / bomb.__name__
    async with some:
        place.mkdir()
        if os.geteuid() == 0:
            own(place, SETTINGS.uid)
        space = DiskSpace(DiskBounds(8 * MIB, 1 << 40, 0), folder / "ledger")
        room = Room(place, space, SpacedSandbox(sandbox, space))
        held = await bomb(room)
        await sandbox.run(EMPTY, place, limit=1000)
        return held, f"{bomb.__name__}: {room.told}"
