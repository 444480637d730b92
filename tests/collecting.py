"""The tests are collected once, and the processes that run them are forked from the one that did.

Each process of pytest-xdist is a Python of its own: it would load every test and all of the product, and list the same
twenty thousand tests as all others do, for twenty seconds of a processor. Here one process does so and waits. Where
pytest-xdist, 3.8.0, starts one of its own, a small program stands in (`STAND_IN`), which hands its ends on to that one,
which forks: the new process is at the other end then, and all that is told from there on is as always.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import select
import shlex
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Generator, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

import pytest
from _pytest.config import _prepareconfig  # as pytest-xdist does it

from tests.telling import tell_less

if TYPE_CHECKING:
    from execnet import Channel, XSpec

STAND_IN: Final = """
import os, socket, sys
asked = socket.socket(socket.AF_UNIX)
asked.connect(sys.argv[1])
socket.send_fds(asked, [b"1"], [0, 1, 2])
os.close(0), os.close(1)
asked.recv(1)
"""
"""Ends when the process does that it stands for."""
COLLECTS: Final = "from tests.collecting import collect; collect()"
FORKED: Final = "from tests.collecting import work; work(channel)"
"""What pytest-xdist has such a process run, in place of a module that collects."""
ENDS: Final = 3
"""Standard input, output and error of a process."""
LONGEST_ORDER: Final = 1 << 16


def share(config: pytest.Config) -> None:
    """Let all processes of this run be forked from one that has collected."""
    config.pluginmanager.register(Sharing(), "collecting once")


class Sharing:
    """Of the process that hands out the tests."""

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_setupnodes(self, config: pytest.Config, specs: Iterable[XSpec]) -> None:
        config.pluginmanager.register(Collector(config.invocation_params.args, specs))


class Collector:
    """The process that collects, as the one sees it that hands out the tests."""

    def __init__(self, arguments: Iterable[object], specs: Iterable[XSpec]) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="signalbox-tests-")
        address = str(Path(self._folder.name) / "collected")
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(address)
            listener.listen()
            self._process = subprocess.Popen(
                [sys.executable, "-c", COLLECTS, str(listener.fileno())],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                pass_fds=[listener.fileno()],
                text=True,
            )
        assert self._process.stdin is not None
        print(json.dumps({"arguments": [*map(str, arguments)], "path": sys.path}), file=self._process.stdin, flush=True)
        for spec in specs:
            spec.python = shlex.join([sys.executable, "-I", "-S", "-c", STAND_IN, address])

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_getremotemodule(self) -> str:
        return FORKED

    def pytest_unconfigure(self) -> None:
        """All others are over."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()
        self._folder.cleanup()


# -------------------------------------------------------------------------------------- in the process that collects


class Collected:
    """All of a run that doesn't depend on which of the processes runs it; what was wrong, each of them tells."""

    def __init__(self, listener: socket.socket, control: int) -> None:
        self._listener = listener
        self._control = control
        self.session: pytest.Session
        self.wrong: list[pytest.CollectReport] = []
        self.error: Exception | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        from xdist.remote import WorkerInteractor

        WorkerInteractor.pytest_collection_modifyitems(None, config, items)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection(self) -> Generator[None, object, object]:
        try:
            return (yield)
        except Exception as error:  # noqa: BLE001 - whoever runs tests tells it
            self.error = error
            return True

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if not report.passed:
            self.wrong.append(report)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Fork one for each that asks, until the control is closed."""
        self.session = session
        assert threading.active_count() == 1, threading.enumerate()
        gc.freeze()
        waits: list[Any] = [self._listener, self._control]
        while self._control not in select.select(waits, [], [])[0]:
            self._fork()
        return True

    def _fork(self) -> None:
        asked, _ = self._listener.accept()
        with asked:
            _, ends, _, _ = socket.recv_fds(asked, 1, ENDS)
            sys.stdout.flush()
            sys.stderr.flush()
            if not os.fork():
                self._be_one(ends)
            for end in ends:
                os.close(end)

    def _be_one(self, ends: list[int]) -> NoReturn:
        from execnet.gateway_base import get_execmodel, init_popen_io, serve

        global _collected
        try:
            _collected = self
            self._listener.close()
            os.close(self._control)
            _capture(self.session.config).stop_global_capturing()
            for number, end in enumerate(ends):
                os.dup2(end, number)
                os.close(end)
            _read_order()
            io: Any = init_popen_io(get_execmodel("main_thread_only"))
            io.write(b"1")
            serve(io, id="worker")
            threading._shutdown()  # type: ignore[attr-defined]  # as at the end of every Python
            atexit._run_exitfuncs()
        except BaseException:  # noqa: BLE001 - a process ends here, and says why
            traceback.print_exc()
            os._exit(1)
        os._exit(0)


_collected: Collected


def _read_order() -> None:
    """To load what is loaded: it ends with its line, and nothing follows until we answer."""
    while (part := os.read(0, LONGEST_ORDER)) and not part.endswith(b"\n"):
        pass


def _capture(config: pytest.Config) -> Any:
    return config.pluginmanager.getplugin("capturemanager")


def collect() -> None:
    """Collect as pytest-xdist would in each of its processes, and be forked."""
    listener = socket.socket(fileno=int(sys.argv.pop()))
    order = json.loads(sys.stdin.readline())
    control = os.dup(0)
    sys.path[:] = order["path"]
    config = _prepareconfig(order["arguments"], None)
    _set_up(config, None)
    config.workerinput = {"workerid": "", "workercount": 0, "testrunuid": "", "mainargv": [""]}  # type: ignore[attr-defined]
    config.workeroutput = {}  # type: ignore[attr-defined]
    config.pluginmanager.register(Collected(listener, control))
    config.hook.pytest_cmdline_main(config=config)


def _set_up(config: pytest.Config, folder: str | None) -> None:
    from xdist.remote import setup_config

    setup_config(config, folder)


# ------------------------------------------------------------------------------------ in each process that runs tests


def work(channel: Channel) -> None:
    """What `xdist.remote` does behind its own collecting."""
    from xdist import remote

    session = _collected.session
    config: Any = session.config
    given, _, options, _ = channel.receive()
    os.environ["PYTEST_XDIST_TESTRUNUID"] = given["testrunuid"]
    os.environ["PYTEST_XDIST_WORKER"] = given["workerid"]
    os.environ["PYTEST_XDIST_WORKER_COUNT"] = str(given["workercount"])
    config.workerinput.update(given)
    config.option.basetemp = options.get("basetemp")
    config._tmp_path_factory._given_basetemp = Path(config.option.basetemp).absolute()
    remote.interactor = interactor = remote.WorkerInteractor(config, channel)
    tell_less(config)
    _capture(config).start_global_capturing()
    _capture(config).suspend_global_capture()
    interactor.pytest_sessionstart(session)
    for report in _collected.wrong:
        interactor.pytest_collectreport(report)
    if _collected.error is not None:
        raise _collected.error
    interactor.pytest_collection_finish(session)
    _run(session, interactor)


def _run(session: pytest.Session, interactor: Any) -> None:
    """As `_pytest.main.wrap_session`, from where the tests are collected."""
    config = session.config
    try:
        session.exitstatus = pytest.ExitCode.OK
        interactor.pytest_runtestloop(session)
        if session.testsfailed:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
    except (KeyboardInterrupt, pytest.exit.Exception):
        session.exitstatus = pytest.ExitCode.INTERRUPTED
        config.hook.pytest_keyboard_interrupt(excinfo=pytest.ExceptionInfo.from_current())
    except BaseException:  # noqa: BLE001 - as pytest has it
        session.exitstatus = pytest.ExitCode.INTERNAL_ERROR
        config.notify_exception(pytest.ExceptionInfo.from_current(), config.option)
    finally:
        os.chdir(session.startpath)
        config.hook.pytest_sessionfinish(session=session, exitstatus=session.exitstatus)
        config._ensure_unconfigure()
