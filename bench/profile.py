"""Where the processor time of a message goes, by thread and group of modules.

    python -m bench.profile [--stream] [--bare] [--chats 10] [--messages 30] [--raw FILE]

starts the program with the mock model, or the bare handler, drives chats through it, and samples it with py-spy while it
holds the interpreter's lock. `--raw` keeps the folded stacks, from which flamegraph.pl or speedscope draw a picture.
"""

from __future__ import annotations

import argparse
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from bench.load import Told, load
from bench.program import Program, helper, signalbox
from bench.reply import settings
from bench.stacks import report, stacks

RATE: Final = 250  # samples a second
SPY: Final = Path(sys.executable).with_name("py-spy")
RAW: Final = "stacks"
WARM: Final = 10  # messages of each of two chats, before py-spy looks
PATIENCE: Final = 60.0  # seconds for py-spy to begin, and to write what it saw


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.profile", description="Where the processor time of a message goes.")
    parser.add_argument("--stream", action="store_true", help="the model's answers are streamed")
    parser.add_argument("--bare", action="store_true", help="the bare handler instead of the program")
    parser.add_argument("--chats", type=int, default=10)
    parser.add_argument("--messages", type=int, default=30, help="of each chat")
    parser.add_argument("--raw", type=Path, metavar="FILE", help="keep the folded stacks")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with _started(folder, stream=chosen.stream, bare=chosen.bare) as program:
            told, processor = measured(program, folder, chats=chosen.chats, messages=chosen.messages)
        raw = (folder / RAW).read_text()
    if chosen.raw:
        chosen.raw.write_text(raw)
    found, each = list(stacks(raw)), processor / told.replies * 1000
    samples = sum(stack.samples for stack in found)
    print(f"{told.replies} messages, {told.rate:.1f} a second, {each:.2f} ms processor time each, {samples} samples")
    print("\n".join(report(found, milliseconds=each)))


@contextmanager
def _started(folder: Path, *, stream: bool, bare: bool) -> Iterator[Program]:
    """What is to be profiled, and the model that it asks."""
    with helper("bench.model", folder=folder) as model:
        base = f"{model.url}/v1"
        flags = ["--stream"] if stream else []
        with (
            helper("bench.bare", "--api-base", base, *flags, folder=folder)
            if bare
            else signalbox(folder, settings(base, stream=stream))
        ) as program:
            yield program


def measured(program: Program, folder: Path, *, chats: int, messages: int) -> tuple[Told, float]:
    """Drive the chats while py-spy watches: what the clients tell, and the processor seconds of the program."""
    kind, where = ("page", program.link) if program.link else ("bare", program.url)
    load(kind, where, chats=2, messages=WARM, folder=folder)
    with _watched(program, folder / RAW):
        used = program.processor_seconds
        told = load(kind, where, chats=chats, messages=messages, folder=folder)
        return told, program.processor_seconds - used


@contextmanager
def _watched(program: Program, raw: Path) -> Iterator[None]:
    """py-spy at work on the program. Errors: RuntimeError with its words where it may not look."""
    flags = ["--gil", "--threads", "--full-filenames", "--rate", str(RATE), "--format", "raw", "--output", str(raw)]
    words = raw.with_suffix(".log")
    with words.open("wb") as log:
        command = [str(SPY), "record", "--pid", str(program.process.pid), *flags]
        spy = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
    try:
        _await_sampling(spy, words)
        yield
        spy.send_signal(signal.SIGINT)
        spy.wait(timeout=PATIENCE)
    finally:
        spy.kill()
        spy.wait()


def _await_sampling(spy: subprocess.Popen[bytes], words: Path) -> None:
    until = time.monotonic() + PATIENCE
    while "Sampling" not in words.read_text():
        if spy.poll() is not None or time.monotonic() > until:
            raise RuntimeError(f"py-spy cannot look into the program:\n{words.read_text()}")
        time.sleep(0.05)


if __name__ == "__main__":
    main()
