"""Runs one WebAssembly module. `runner` starts it as a separate program, in the workspace.

A process rather than a thread: a module that makes wasmtime hang or take all memory then takes down nothing of ours, and
the library stays in memory for the time of a call alone.
"""

from __future__ import annotations

import ctypes  # at once: whom we become may not read the folder of Python any more
import json
import os
import resource
import signal
import sys
import threading
import time
from typing import TYPE_CHECKING, Any, Final, TypedDict

if TYPE_CHECKING:
    import wasmtime

BESIDE_MAX_BYTES: Final = 768 << 20
"""Of memory beside that of the module: Python, and wasmtime while it compiles."""
STACK_MAX_BYTES: Final = 1 << 20
TABLE_MAX: Final = 1_000_000
"""Entries of a module's table; each takes eight bytes."""
MODULE_START: Final = b"\0asm\x01\0\0\0"
COMPONENT_START: Final = b"\0asm\x0d\0\x01\0"
PR_SET_PDEATHSIG: Final = 1  # <linux/prctl.h>
OOM_SCORE: Final = "900"  # of 1000: it goes before Signalbox or its database
OUTPUT_FULL: Final = 141
"""Exit code as of a program that nobody listens to."""


class ModuleOrder(TypedDict):
    """Order to run a module. `module`, `given` and `verdict` are descriptors: its bytes, its input, and what came of it."""

    module: int
    given: int
    verdict: int
    args: list[str]
    uid: int | None
    memory: int
    fuel: int
    seconds: float
    writes: int


class Verdict(TypedDict):
    """End of a module: `kind` is "exit", "trap", "fuel", "time", or for one that was not run "refused"."""

    kind: str
    code: int
    words: str


def main(request: str) -> None:
    order: ModuleOrder = json.loads(request)
    with os.fdopen(order["verdict"], "w", encoding="utf-8") as verdict:
        json.dump(_run(order), verdict)


def _run(order: ModuleOrder) -> Verdict:
    try:
        import wasmtime
    except ImportError as error:
        return _refused(f"wasmtime is not installed ({error}). An operator installs the extra wasm.")
    with os.fdopen(order["module"], "rb") as file:
        code = file.read()
    if wrong := fault_of(code):
        return _refused(wrong)
    os.dup2(order["given"], 0)
    _bound(order)
    engine = wasmtime.Engine(_config(wasmtime))
    try:
        module = wasmtime.Module(engine, code)
    except wasmtime.WasmtimeError as error:
        return _refused(f"it is damaged, or needs what is not supported: {_line(error)}")
    return _called(wasmtime, engine, module, order)


def fault_of(code: bytes) -> str:
    """The reason for which these bytes are no module; empty for one.

    >>> fault_of(b"hello")
    'it is no WebAssembly: its first bytes are those of something else'
    """
    if code.startswith(COMPONENT_START):
        return "it is a component; only core modules with WASI preview 1 are run (build for wasm32-wasip1)"
    if not code.startswith(MODULE_START):
        return "it is no WebAssembly: its first bytes are those of something else"
    return ""


def _config(library: Any) -> wasmtime.Config:
    config = library.Config()
    config.consume_fuel = True
    config.epoch_interruption = True
    config.max_wasm_stack = STACK_MAX_BYTES
    config.parallel_compilation = False
    config.wasm_threads = False
    config.wasm_memory64 = False
    config.wasm_multi_memory = False  # the bound of memory is one of each
    return config  # type: ignore[no-any-return]


def _called(library: Any, engine: wasmtime.Engine, module: wasmtime.Module, order: ModuleOrder) -> Verdict:
    store = library.Store(engine)
    store.set_limits(memory_size=order["memory"], table_elements=TABLE_MAX, instances=1, tables=4, memories=1)
    store.set_fuel(order["fuel"])
    store.set_epoch_deadline(1)
    wasi = library.WasiConfig()
    wasi.argv = order["args"]
    wasi.inherit_stdin()
    wasi.inherit_stdout()
    wasi.inherit_stderr()
    wasi.preopen_dir(".", "/")
    store.set_wasi(wasi)
    linker = library.Linker(engine)
    linker.define_wasi()
    try:
        threading.Thread(target=_end_in_time, args=(engine, order["seconds"]), daemon=True).start()
        exports = linker.instantiate(store, module).exports(store)
        start = exports.get("_start")
        if not isinstance(start, library.Func):
            return _refused("it has no function _start: it is a library, not a program")
        start(store)
    except library.ExitTrap as end:
        return Verdict(kind="exit", code=end.code, words="")
    except library.Trap as trap:
        return _trapped(library, trap)
    except library.WasmtimeError as error:
        return Verdict(kind="trap", code=0, words=_line(error))
    return Verdict(kind="exit", code=0, words="")


def _trapped(library: Any, trap: wasmtime.Trap) -> Verdict:
    kinds = {library.TrapCode.OUT_OF_FUEL: "fuel", library.TrapCode.INTERRUPT: "time"}
    return Verdict(kind=kinds.get(trap.trap_code, "trap"), code=0, words=_line(trap))


def _end_in_time(engine: wasmtime.Engine, seconds: float) -> None:
    time.sleep(seconds)
    engine.increment_epoch()


def _bound(order: ModuleOrder) -> None:
    """Take limits on and step down from root: nothing of what the module makes us do is done before."""
    bounds = {
        resource.RLIMIT_DATA: order["memory"] + BESIDE_MAX_BYTES,
        resource.RLIMIT_FSIZE: order["writes"],
        resource.RLIMIT_CORE: 0,
        # Whoever started us kills us in time, unless it was itself killed.
        resource.RLIMIT_CPU: int(order["seconds"]) + 10,
    }
    for kind, bound in bounds.items():
        hard = resource.getrlimit(kind)[1]
        least = bound if hard == resource.RLIM_INFINITY else min(bound, hard)
        resource.setrlimit(kind, (least, least))
    os.umask(0o022)  # ours keeps others out, and the shell runs as another user
    _first_to_go()
    if order["uid"] is not None:
        os.setgroups([])
        os.setresgid(order["uid"], order["uid"], order["uid"])
        os.setresuid(order["uid"], order["uid"], order["uid"])
    if sys.platform == "linux":  # die with who started us; stepping down has taken that back
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _first_to_go() -> None:
    try:
        with open("/proc/self/oom_score_adj", "w") as score:  # noqa: PTH123
            score.write(OOM_SCORE)
    except OSError:  # no Linux, or a /proc that is read-only
        return


def _refused(words: str) -> Verdict:
    return Verdict(kind="refused", code=0, words=words)


def _line(error: BaseException) -> str:
    """The cause alone, where wasmtime tells the way there too.

    >>> _line(ValueError("error while executing at wasm backtrace: 0: f\\n\\nCaused by:\\n wasm trap: unreachable"))
    'wasm trap: unreachable'
    """
    return " ".join(str(error).split("Caused by:")[-1].split())[:500]


if __name__ == "__main__":
    main(sys.argv[1])
