"""Modules that a process loads, looked at in a fresh one: it pays for what its settings turn on."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import pytest

from bot.settings.settings import load
from bot.wiring.safety.guard import door_of
from tests.fakes.fresh import SERVING, AllFresh

pytestmark = pytest.mark.xdist_group("fresh")

LOOK: Final = """
import asyncio, dataclasses, gc, json, sys
import aiohttp.connector
from collections import Counter
from pathlib import Path
from bot.server.app import build
from bot.settings.settings import load

async def loaded(text):
    path = Path(sys.argv[1]) / "signalbox.toml"
    path.write_text(text)
    (path.parent / "var").mkdir(exist_ok=True)
    await (await build(load(path, environ={}))).store.close()
    return sorted(sys.modules)

assert type(aiohttp.connector._SSL_CONTEXT_VERIFIED).__name__ == "LateContext"
found = [asyncio.run(loaded(text)) for text in sys.argv[2:]]
gc.collect()
made = Counter(f"{cls.__module__}.{cls.__qualname__}" for cls in gc.get_objects()
               if isinstance(cls, type) and dataclasses.is_dataclass(cls) and cls.__module__.startswith("runtime."))
assert len(made) > 300 and made.most_common(1)[0][1] == 1, made.most_common(3)
print(json.dumps(found))
"""
MESSAGE: Final = """
import asyncio, gc, json, sys
from datetime import UTC, datetime
from pathlib import Path
from bot.node.lean_classes import LATE_INIT, write_ahead
from bot.server.phases.message_classes import CLASSES
from runtime.contract import Said, Signal
from runtime.domain.ids import new_id
from tests.unit.bot.notebook import ADA, DESK, running

def unwritten():
    classes = [one for one in gc.get_objects() if isinstance(one, type) and getattr(one.__init__, "__code__", None) is LATE_INIT]
    return {f"{one.__module__}.{one.__qualname__}" for one in classes if not one.__name__.startswith("_")}

async def rest(known):
    count = -1
    while count != len(known):
        count = len(known)
        await asyncio.sleep(0.2)

async def main():
    async with running(Path(sys.argv[1]), ["hello"]) as at_work:
        at_work.app.store.prepare()
        write_ahead(CLASSES)
        known = at_work.app.store.driver._compiler._known
        await rest(known)
        texts, late = {*known}, unwritten()
        await at_work.app.sink(Signal("notebook-1", new_id(), ADA, "Ada", DESK, Said("hello"), datetime.now(UTC)))
        await at_work.notebook.until("hello")
        anew = [made.sql for one, (_, made) in known.items() if one not in texts]
        print(json.dumps([anew, sorted(late - unwritten()), len(late)]))

asyncio.run(main())
"""
OF_MEMORY: Final = ("numpy", "litellm", "runtime.memory", "runtime.vectors", "runtime.models.embedding")
SEARCH: Final = ["runtime.vectors", "runtime.vectors.near"]
"""A search by meaning without a model: it finds nothing, and costs nothing."""
OF_INTERCEPTORS: Final = {"runtime.interceptors.chain", "tools.interceptors.program"}
WITH_INTERCEPTOR: Final = '[[interceptors]]\nname = "warden"\nat = "run_end"\ncommand = ["warden"]\n'
WITH_MODEL: Final = '[embeddings]\nname = "openai/small"\napi_base = "http://127.0.0.1:9/v1"\n'
WITH_KEY: Final = 'data_dir = "keyed"\n[model]\nname = "openai/ours"\napi_key = "a-key-of-ours"\npreload = false\n'


STORE_PARTS: Final = (
    *(
        "cluster.roster",
        "cluster.support",
        "knowledge.store",
        "logins.store",
        "memory.finding.messages",
        "memory.finding.words",
        "memory.values",
    ),
    *("agents.lifecycle", "approvals.granted.giving", "events.feedback", "events.reading", "operations.finding"),
    *("people.held", "people.merging", "programs.following", "web_push.subscriptions"),
    *("operations.figures", "operations.retention", "operations.texts", "processes.store", "programs.store"),
    *("shelf.search", "vectors.costs", "web_push.store"),
)
LATE: Final = {
    *("bot.doors.a2a.places", "bot.doors.a2a.pushing", "bot.wiring.events.pushes", "tools.peers.asking"),
    *("runtime.calendar.cron", "runtime.events.outlets"),
    *("adapters.webhook.adapter", "bot.console.pages", "bot.operator.operations", "bot.wiring.logins.grants"),
    *("bot.auth.parts", "runtime.oauth.openid", "jwt"),
    *("bot.wiring.knowledge.reader", "bot.wiring.tools.folder", "runtime.knowledge.reading", "runtime.models.demo"),
    *(
        "tools.browser.tools",
        "tools.builds.results",
        "tools.charting.arguments",
        "tools.databases.tool",
        "tools.mcp.server",
    ),
    *(
        "tools.documents.kinds",
        "tools.git.remote",
        "tools.plugins.folder",
        "tools.processes.program",
        "tools.web.bodies",
    ),
    *("tools.web.searching.tool", "tools.web.sending"),
    *(f"runtime.store.{part}" for part in (*STORE_PARTS, "shelf.branches", "shelf.deleting", "shelf.removing")),
    *("alembic", "asyncpg", "jinja2", "mcp", "playwright", "pypdf", "rich", "xml.etree", "yaml"),
}
"""Modules that wait for their first use, or for settings that turn them on."""


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory, fresh: AllFresh) -> list[list[str]]:
    """Modules of one process, which is built without memory, then as it comes, then with embeddings, then with an interceptor,
    then with a key that it was started with before."""
    folder = tmp_path_factory.mktemp("loaded")
    (folder / "keyed").mkdir()
    (folder / "signalbox.toml").write_text(WITH_KEY)
    door_of(load(folder / "signalbox.toml", environ={}), str)
    settings = ("[memory]\nenabled = false\n", "", WITH_MODEL, WITH_INTERCEPTOR, WITH_KEY)
    ended = fresh.after(*SERVING).run(LOOK, str(folder), *settings)
    assert ended.returncode == 0, ended.stderr
    found: list[list[str]] = json.loads(ended.stdout.splitlines()[-1])
    return found


def test_memory_loads_no_numpy_before_its_first_search_and_nothing_where_it_is_off(loaded: list[list[str]]) -> None:
    off, on, with_vectors, *_ = (
        [name for name in names if name.startswith(OF_MEMORY) and name.count(".") <= 2] for names in loaded
    )
    assert off == SEARCH
    assert {"runtime.memory.book", "runtime.memory.recalling"} <= {*on}
    assert [name for name in on if not name.startswith("runtime.memory")] == SEARCH
    assert "runtime.models.embedding.embedder" not in on
    assert [name for name in with_vectors if name.startswith(("numpy", "litellm"))] == []
    assert "runtime.vectors.guarded" in with_vectors


def test_interceptors_are_loaded_where_there_are_some_alone(loaded: list[list[str]]) -> None:
    assert [OF_INTERCEPTORS & {*names} for names in loaded] == [set(), set(), set(), *[OF_INTERCEPTORS] * 2]


def test_an_idle_process_has_not_loaded_what_nobody_has_used(loaded: list[list[str]]) -> None:
    """Each of these was there once, for 5 MB: most processes of a small machine are idle."""
    ours = [name for name in LATE if name.startswith(("adapters.", "bot.", "runtime.", "tools."))]
    assert [name for name in ours if not find_spec(name)] == []
    assert LATE & {*loaded[1]} == set()


def test_a_process_with_a_key_has_not_loaded_what_seals_it(loaded: list[list[str]]) -> None:
    assert "runtime.models.litellm_model" in loaded[4]
    assert [name for name in loaded[4] if name.startswith("cryptography")] == []


def test_what_a_message_needs_is_made_ahead(fresh: AllFresh, tmp_path: Path) -> None:
    """Else its first answer takes three times as long as others. What is missing belongs into `FIRST_MESSAGE` or `CLASSES`."""
    ended = fresh.after(*SERVING).run(MESSAGE, str(tmp_path))
    compiled, written, left = json.loads(next(line for line in ended.stdout.splitlines() if line.startswith("[[")))
    assert (compiled, written) == ([], [])
    assert left > 300  # classes of which nobody has made an object
