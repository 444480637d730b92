"""WebAssembly modules, built here from their text: what they reach, what they are bounded by, and how they end."""

import asyncio
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import pytest

from runtime.contract import CardContext, Effect, ToolContext
from runtime.contract.rooms import Boundless
from runtime.errors import ToolFailed, ToolRetry
from tools.files.workspace import own
from tools.sandbox.shell import ShellSettings
from tools.wasm.program import COMPONENT_START
from tools.wasm.tool import WasmTerms, wasm_tool

wasmtime = pytest.importorskip("wasmtime", reason="the extra wasm is not installed")

SIGNATURES: Final = {
    "fd_write": "i32 i32 i32 i32",
    "fd_read": "i32 i32 i32 i32",
    "path_open": "i32 i32 i32 i32 i32 i64 i64 i32 i32",
    "args_sizes_get": "i32 i32",
    "environ_sizes_get": "i32 i32",
    "poll_oneoff": "i32 i32 i32 i32",
}
EXIT: Final = '(import "wasi_snapshot_preview1" "proc_exit" (func $proc_exit (param i32)))'
PRINT_6: Final = """(i32.store (i32.const 0) (i32.const 16)) (i32.store (i32.const 4) (i32.const 6))
    (drop (call $fd_write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))"""


def program(body: str, *uses: str, data: str = "", pages: int = 40, more: str = "") -> bytes:
    """A module whose `_start` is `body`; `data` lies at 16."""
    imports = "".join(
        f'(import "wasi_snapshot_preview1" "{name}" (func ${name} (param {SIGNATURES[name]}) (result i32)))'
        for name in uses
    )
    text = f"""(module {imports}{EXIT}{more}(memory (export "memory") {pages})
        (data (i32.const 16) "{data}") (func (export "_start") (local $i i32) {body}))"""
    made: bytes = bytes(wasmtime.wat2wasm(text))
    return made


def opens(path: str, *, flags: int = 0, rights: int = 2) -> bytes:
    """A module that opens `path` below its folder, and ends with the error's number; it follows links."""
    body = f"""(call $proc_exit (call $path_open (i32.const 3) (i32.const 1) (i32.const 16) (i32.const {len(path)})
        (i32.const {flags}) (i64.const {rights}) (i64.const 0) (i32.const 0) (i32.const 8)))"""
    return program(body, "path_open", data=path)


FOREVER: Final = "(loop $l (br $l))"
GROWS: Final = """(loop $l (if (i32.eq (memory.grow (i32.const 256)) (i32.const -1)) (then
    (call $proc_exit (i32.div_u (memory.size) (i32.const 16))))) (br $l))"""
FLOOD: Final = """(memory.fill (i32.const 16) (i32.const 121) (i32.const 1048576))
    (i32.store (i32.const 0) (i32.const 16)) (i32.store (i32.const 4) (i32.const 1048576))
    (loop $l (drop (call $fd_write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))
    (local.set $i (i32.add (local.get $i) (i32.const 1))) (br_if $l (i32.lt_u (local.get $i) (i32.const {mib}))))"""
ECHO: Final = """(i32.store (i32.const 0) (i32.const 16)) (i32.store (i32.const 4) (i32.const 6))
    (drop (call $fd_read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 8)))"""
SLEEPS: Final = """(i32.store8 (i32.const 24) (i32.const 0)) (i32.store (i32.const 32) (i32.const 1))
    (i64.store (i32.const 40) (i64.const 600000000000))
    (drop (call $poll_oneoff (i32.const 16) (i32.const 128) (i32.const 1) (i32.const 8)))"""


async def run(
    context: ToolContext, module: bytes, terms: WasmTerms | None = None, arguments: Mapping[str, Any] | None = None
) -> str:
    place = context.workspace / "m.wasm"
    place.write_bytes(module)
    tool = wasm_tool(terms or WasmTerms(), Boundless())
    return await tool.call({"path": "m.wasm", **(arguments or {})}, context)


async def test_a_module_says_hello(context: ToolContext) -> None:
    assert await run(context, program(PRINT_6, "fd_write", data="hello\\n")) == "hello\n[exit code 0]"


async def test_a_module_gets_its_arguments_and_its_input_and_no_variable(context: ToolContext) -> None:
    counts = """(drop (call $args_sizes_get (i32.const 0) (i32.const 4)))
        (drop (call $environ_sizes_get (i32.const 8) (i32.const 12)))
        (call $proc_exit (i32.add (i32.load (i32.const 0)) (i32.mul (i32.const 100) (i32.load (i32.const 8)))))"""
    given = {"args": ["a", "b c"]}
    assert await run(context, program(counts, "args_sizes_get", "environ_sizes_get"), None, given) == (
        "[no output, exit code 3]"
    )
    said = await run(context, program(ECHO + PRINT_6, "fd_read", "fd_write"), None, {"stdin": "given!"})
    assert said == "given!\n[exit code 0]"


async def test_exit_codes_are_results(context: ToolContext) -> None:
    assert await run(context, program("(call $proc_exit (i32.const 77))")) == "[no output, exit code 77]"


@pytest.mark.parametrize("where", ["_start", "start"])
async def test_an_endless_loop_is_stopped_by_time_and_by_fuel(where: str, context: ToolContext) -> None:
    more = f"(func $s {FOREVER}) (start $s)" if where == "start" else ""
    loop = program("" if more else FOREVER, more=more)
    with pytest.raises(ToolFailed, match=r"stopped after 0\.3 s\. It had printed nothing"):
        await run(context, loop, WasmTerms(timeout=timedelta(seconds=0.3)))
    with pytest.raises(ToolFailed, match=r"stopped after 5,000 instructions\. It had printed nothing"):
        await run(context, loop, WasmTerms(fuel=5_000))


async def test_memory_is_bounded(context: ToolContext) -> None:
    mib = int((await run(context, program(GROWS), WasmTerms(memory_mib=64))).rsplit(" ", 1)[1].rstrip("]"))
    assert 48 <= mib <= 64
    with pytest.raises(ToolFailed, match="exceeds memory limits"):
        await run(context, program("", pages=65_536))


async def test_a_gigabyte_of_output_is_cut(context: ToolContext) -> None:
    said = await run(context, program(FLOOD.format(mib=64), "fd_write"))
    assert len(said) < 50_000
    assert "67,0" in said
    assert "characters cut" in said


@pytest.mark.soak
async def test_a_whole_gigabyte_of_output_is_cut(context: ToolContext) -> None:
    said = await run(context, program(FLOOD.format(mib=1024), "fd_write"))
    assert len(said) < 50_000


@pytest.mark.soak
async def test_a_module_that_sleeps_in_the_system_is_killed(context: ToolContext) -> None:
    with pytest.raises(ToolFailed, match="stopped after 1 s"):
        await run(context, program(SLEEPS, "poll_oneoff"), WasmTerms(timeout=timedelta(seconds=1)))


NOT_PERMITTED: Final = (44, 76, 63, 2, 28, 32)
"""Errors of WASI that refuse: no entry, not capable, not permitted, access, invalid, too many links."""


@pytest.mark.parametrize(
    "path", ["../secret.txt", "a/../../secret.txt", "/etc/passwd", "link", "folder/secret.txt", "absolute", "proc"]
)
async def test_no_path_and_no_link_leads_out(path: str, context: ToolContext) -> None:
    workspace = context.workspace
    (workspace / "a").mkdir()
    (workspace / "link").symlink_to("../secret.txt")
    (workspace / "folder").symlink_to("..")
    (workspace / "absolute").symlink_to(workspace.parent / "secret.txt")
    (workspace / "proc").symlink_to("/proc/self/environ")
    (workspace / "inside.txt").write_text("mine")
    assert await run(context, opens("inside.txt")) == "[no output, exit code 0]"
    refused = await run(context, opens(path))
    assert int(refused.rsplit(" ", 1)[1].rstrip("]")) in NOT_PERMITTED, refused


async def test_a_module_writes_as_the_user_of_the_shell(context: ToolContext) -> None:
    own(context.workspace, ShellSettings().uid)
    assert await run(context, opens("new.txt", flags=1, rights=64)) == "[no output, exit code 0]"
    assert (context.workspace / "new.txt").stat().st_uid == context.workspace.stat().st_uid


@pytest.mark.parametrize(
    ("code", "why"),
    [
        (b"hello", "no WebAssembly"),
        (b"", "no WebAssembly"),
        (COMPONENT_START, "it is a component; only core modules"),
        (b"\0asm\x01\0\0\0\xff\xff\xff", "damaged"),
    ],
)
async def test_what_is_no_module_is_refused_with_the_reason(code: bytes, why: str, context: ToolContext) -> None:
    with pytest.raises(ToolFailed, match=f"was not run: .*{why}"):
        await run(context, code)


async def test_a_component_a_library_and_a_trap_are_told(context: ToolContext) -> None:
    with pytest.raises(ToolFailed, match="it is a component"):
        await run(context, bytes(wasmtime.wat2wasm("(component)")))
    with pytest.raises(ToolFailed, match="a library, not a program"):
        await run(context, bytes(wasmtime.wat2wasm('(module (func (export "add")))')))
    with pytest.raises(ToolFailed, match=r"trapped: wasm trap: .*unreachable.*\. Until then it printed:\nhello"):
        await run(context, program(f"{PRINT_6} unreachable", "fd_write", data="hello\\n"))


@pytest.mark.parametrize("path", ["../m.wasm", "/etc/passwd", "none.wasm", "link.wasm", "."])
async def test_only_a_file_of_the_workspace_is_run(path: str, context: ToolContext) -> None:
    (context.workspace / "link.wasm").symlink_to("/bin/sh")
    with pytest.raises(ToolFailed):
        await wasm_tool(WasmTerms(), Boundless()).call({"path": path}, context)


@pytest.mark.parametrize(
    "given", [{"args": ["\0"]}, {"args": ["\ud83d"]}, {"args": ["a"] * 51}, {"stdin": "x" * 1_000_001}]
)
async def test_what_cannot_be_given_runs_nothing(given: Mapping[str, Any], context: ToolContext) -> None:
    with pytest.raises(ToolRetry, match="Nothing was run"):
        await run(context, program(""), None, given)


async def test_a_call_that_is_stopped_leaves_no_process(context: ToolContext) -> None:
    async with asyncio.TaskGroup() as group:
        called = group.create_task(run(context, program(FOREVER)))
        async with asyncio.timeout(20):
            while not _working(context.workspace):  # noqa: ASYNC110 - another process
                await asyncio.sleep(0.02)
        called.cancel()
    assert _working(context.workspace) == []


def _working(folder: Path) -> list[Path]:
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (process / "cwd").readlink() == folder:
                found.append(process)
        except OSError:  # it ended meanwhile, or isn't ours
            continue
    return found


def test_the_card_of_a_module_says_what_runs(context: ToolContext) -> None:
    spec = wasm_tool(WasmTerms(), Boundless()).spec
    assert spec.card is not None
    parts = spec.card({"path": "m.wasm", "args": ["a"], "stdin": "x"}, CardContext(context.workspace))
    assert [getattr(part, "argument", "") or getattr(part, "text", "") for part in parts] == [
        *("path", "args", "stdin", "in this room's workspace", "no network")
    ]
    assert (spec.effect, spec.seldom) == (Effect.DANGER, True)
