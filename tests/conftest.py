"""What every test has: no network but loopback, and a real PostgreSQL for those that ask."""

from __future__ import annotations

import gc
import ipaddress
import os
import re
import signal
import socket
import sys
from collections import Counter
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from importlib import import_module
from itertools import count as counted
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest
import pytest_asyncio
from _pytest.doctest import DoctestModule  # no name that is public
from hypothesis import settings
from hypothesis.internal.conjecture import providers

from runtime.text.words import ALL_ENGLISH, LANGUAGE, LANGUAGES
from tests import collecting, once
from tests.fakes import forked
from tests.fakes.forked import LOADED
from tests.fakes.fresh import AllFresh
from tests.fakes.litellm_connections import end_connections
from tests.fakes.postgres import Postgres
from tests.packages import packages
from tests.rewriting import rewrite_asserts
from tests.security.tally import COUNTED, Tallied, Tally
from tests.telling import tell_less
from tests.turns import in_turns, keep_groups

if TYPE_CHECKING:
    from playwright.async_api import Browser

# Where Python was told to keep nothing that it compiled, as in many containers, each program that a test starts would
# compile all of ours anew, for a second, and each run of the tests all tests.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False


# Packages outside the core as they are in this folder, whichever are installed.
sys.path[1:1] = [str(package) for package in packages() if str(package) not in sys.path]

# In the background, or under nohup, SIGINT is ignored, and every program that a test starts would ignore it too.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# A sample each time; more of it by name: `make test ARGS=--hypothesis-profile=thorough`. No deadline: a busy machine is no fault.
settings.register_profile("sample", max_examples=25, deadline=None)
settings.register_profile("thorough", max_examples=300, deadline=None)
settings.load_profile("sample")


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _to_loopback(ask: Callable[..., Any]) -> Callable[..., Any]:
    """The same method of a socket, refused for anywhere else."""

    def asked(self: socket.socket, *given: Any) -> Any:
        match given[-1]:
            case (str(host), int(), *_) if not _is_loopback(host):
                raise AssertionError(f"a test tried to reach {host}; tests have loopback only")
        return ask(self, *given)

    return asked


# Each library of Python goes this way. An audit hook would be told of each file and module too: a twentieth of the time
# until the first test, and a hundredth of the others.
for method in ("connect", "connect_ex", "sendto"):
    setattr(socket.socket, method, _to_loopback(getattr(socket.socket, method)))


FOLDER_NUMBERS: Final = counted()

gc.disable()  # until all is loaded


def pytest_configure(config: pytest.Config) -> None:
    config.option.loadscopereorder = False  # pytest-xdist keeps the order of `in_turns`
    config.pluginmanager.register(WithExamples())
    if config.getoption("--hypothesis-profile", default=None) != "thorough":
        # Each process would read 1,500 modules for their constants, of which hardly one came to be among 25 examples.
        providers._get_local_constants = lambda: providers._local_constants
    if hasattr(config, "workerinput"):
        tell_less(config)
    elif config.getoption("dist", default="no") != "no":
        rewrite_asserts(config)
        forked.share()
        collecting.share(config)


class WithExamples:
    """Modules are looked through for examples only where there is one: else each process would load every module and
    look at all of it, for three seconds. That each module can be loaded has a test of its own, in `test_imports`."""

    @pytest.hookimpl(wrapper=True)
    def pytest_collect_file(self, file_path: Path) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
        found = yield
        if b">>>" in file_path.read_bytes():
            return found
        return [one for one in found if not isinstance(one, DoctestModule)]


@pytest.hookimpl(wrapper=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> Generator[None, object, object]:
    """Cases of the long run are only made where it is asked for: else they are a tenth of all that each process makes."""
    made = yield
    if metafunc.config.option.markexpr == "not soak":
        usual = [case for case in metafunc._calls if all(mark.name != "soak" for mark in case.marks)]
        metafunc._calls = usual or metafunc._calls[:1]  # with none it would be made without its parameters
    return made


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config) -> object:
    """Of the process that has the others run the tests; None is pytest-xdist's own."""
    from tests.shares import Shares  # each of the others does without

    return Shares(config) if config.getoption("dist") == "loadgroup" else None


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("loadgroup", default=False):  # one of several processes, with --dist loadgroup
        keep_groups(items)
        items[:] = in_turns(items)


def _uncached_loggers() -> None:
    """A logger that is used while a test has set how lines are logged would stay as it is then for all tests behind it."""
    if structlog := sys.modules.get("structlog"):
        configure = structlog.configure

        def uncached(**given: Any) -> None:
            configure(**given | {"cache_logger_on_first_use": False})

        structlog.configure = uncached  # type: ignore[attr-defined]


def pytest_collection_finish(session: pytest.Session) -> None:
    """What was loaded by now stays: no collection of garbage in the tests has to walk through it again. A third of it is
    garbage, which stays too: to find that takes a second of each process."""
    _uncached_loggers()
    gc.freeze()
    gc.enable()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """LiteLLM takes seconds to load, which no test shall spend that waits for an answer. One process runs those that need it,
    and the others do without."""
    if LOADED not in sys.modules and any(group.args == ("litellm",) for group in item.iter_markers("xdist_group")):
        import_module(LOADED)
        gc.collect()
        gc.freeze()
    LANGUAGE.set("")
    LANGUAGES.set(ALL_ENGLISH)  # a test before it may have spoken German in the context of all
    outcome = yield
    end_connections()
    _forget_settings()
    return outcome


def _forget_settings() -> None:
    """Whatever the test set for its whole process: how lines are logged, and which channels of packages are known."""
    if (structlog := sys.modules.get("structlog")) and structlog.is_configured():
        structlog.reset_defaults()
    if channels := sys.modules.get("bot.plugins.channels"):
        channels._known.clear()
        channels._known.update(channels.BUILT_IN)


@pytest.fixture(scope="session", autouse=True)
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        once.share(patch, tmp_path_factory.mktemp("once"))
        yield


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As pytest's own, which looks at all folders of earlier tests to find a name for each new one."""
    name = re.sub(r"\W", "_", request.node.name)[:30]
    path = tmp_path_factory.getbasetemp() / f"{name}{next(FOLDER_NUMBERS)}"
    path.mkdir(mode=0o700)
    return path


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """One server a test process; take a `create_database()` of your own from it."""
    with Postgres() as server:
        yield server


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    """One Chromium a test process: take a window of your own from it. Its tests have the loop of the session too."""
    from tests.e2e.browser import chromium, executable  # other tests do without
    from tests.e2e.conftest import not_here

    program = executable()
    if program is None:
        not_here("no Chromium on this machine (tests/setup.sh chromium installs one)")
    assert program is not None
    async with chromium(program) as browser:
        yield browser


@pytest.fixture(scope="session")
def fresh() -> Iterator[AllFresh]:
    """Python that has loaded nothing but what a test names."""
    made = AllFresh()
    yield made
    made.close()


@pytest.fixture
def tallied(record_property: Callable[[str, object], None]) -> Tallied:
    """Begins the count of a suite. Tests that count one suite are added up."""
    return lambda suite, least: Tally(suite, least, lambda *told: record_property(COUNTED, told))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """How many cases each counted suite had."""
    reports = [one for ended in ("passed", "failed") for one in terminalreporter.getreports(ended)]
    counts = Counter[str]()
    for suite, count in (told for one in reports for name, told in one.user_properties if name == COUNTED):
        counts[suite] += count
    for suite, count in sorted(counts.items()):
        terminalreporter.write_line(f"{suite}: {count} cases")
