"""Lazy import of LiteLLM.

Importing it takes more than a second of processor time and about 60 MB, so it happens in a thread: ahead, or at the first message
that needs it, and then whoever sent that one sees somebody at work before.
"""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from typing import Any, Final

import structlog

from runtime.lean import no_full_collections
from runtime.models.lean.faults import fault_in
from runtime.models.lean.rehearsal import rehearse
from runtime.text.glyphs import bound

log = structlog.get_logger("models")

Schema = Mapping[str, Any]

AFTER_START: Final = 0.3
"""Seconds for a start to come to its end before loading takes up a processor."""

SCHEMAS: Final = 2_000
"""Schemas of tools that are remembered: far more than one process offers."""

LONGEST_REASON: Final = 1_000
"""Characters of an error in the log."""

WAY_OUT: Final = "if it goes on, set lean = false under [model] and restart: LiteLLM is then loaded whole"

VARIABLES: Final = ("LITELLM_LOCAL_MODEL_COST_MAP", "EXPERIMENTAL_OPENAI_BASE_LLM_HTTP_HANDLER")
"""To be set to "True" before a call: `bot.settings.settings`, the one owner of the environment, does that unless they are set.

The first keeps LiteLLM from fetching its price list. The second sends calls to OpenAI and to servers like it through
the HTTP client that LiteLLM uses for every other vendor, and not through OpenAI's SDK, which walks through all types of
each request: measured with five tools, 4.5 instead of 5.9 ms of processor time a call, streamed 4.8 instead of 6.9. That
client's readers pass over what they cannot read, so `frames` looks at each line before them.
"""


class Library:
    """Gives LiteLLM, set to do nothing but our calls. `load` is what takes its time."""

    def __init__(self, load: Callable[[bool], Any] | None = None) -> None:
        self._load = load or loaded
        self._lock = threading.Lock()
        self._module: Any = None
        self._loading: Future[Any] | None = None
        self._told = False

    @property
    def is_loaded(self) -> bool:
        return self._module is not None

    async def get(self, first: str = "", *, lean: bool = True) -> Any:
        """The module; only the first caller and those beside it wait, and nobody else does. The first one's `lean` decides.

        With the name of a model in `first` a call to it is rehearsed before anybody has the module: two threads in it
        at once, each importing, could wait for each other.
        """
        return self._module or await asyncio.wrap_future(self._begun(first, lean))

    def _begun(self, first: str, lean: bool) -> Future[Any]:
        """Load it once for all waiters, in a separate thread: the loop's threads have other work, and a process that
        ends must not wait for this one.
        """
        with self._lock:
            loading = self._loading
            if loading is None:
                loading = self._loading = Future()
                loading.set_running_or_notify_cancel()  # so that one who gives up waiting ends it for nobody
                arguments = (loading, first, lean)
                threading.Thread(target=self._run, args=arguments, name="model client", daemon=True).start()
            return loading

    def _run(self, loading: Future[Any], first: str, lean: bool) -> None:
        try:
            module = self._load(lean)
            if first:
                rehearse(module, first)
            self._module = module
        except BaseException as error:  # noqa: BLE001 - whoever waits is told; the next one tries anew
            self._loading = None
            loading.set_exception(error)
        else:
            loading.set_result(self._module)

    def tell_fault(self, error: Exception, model: str, hidden: Callable[[str], str]) -> None:
        """Log once how to load LiteLLM whole, where `error` may come from its lean form. `hidden` masks keys."""
        from runtime.models.lean import parts

        fault = None if self._told or not parts.is_lean() else fault_in(error)
        if fault is not None:
            self._told = True
            reason = bound(hidden(f"{type(fault).__name__}: {fault}"), LONGEST_REASON)
            log.error(
                "a call failed inside LiteLLM, perhaps for its lean form", model=model, reason=reason, fix=WAY_OUT
            )

    @staticmethod
    def spare_loggers() -> None:
        """In this task LiteLLM prepares no records for its own loggers, of which we use none (0.5 ms a call).

        Its name for that is a call from inside of LiteLLM; the release is pinned, and a test notices if it goes.
        """
        from litellm._internal_context import is_internal_call

        is_internal_call.set(True)


def loaded(lean: bool = True) -> Any:
    """LiteLLM, imported. Others go on meanwhile, so nothing in here may hold the interpreter for long."""
    from runtime.models.lean import parts

    with no_full_collections():
        litellm = parts.imported(set_up) if lean else parts.whole(set_up)
        parts.give_back()
        gc.freeze()  # three hundred thousand objects that stay: else each full collection walks them, 160 ms
    return litellm


def set_up(litellm: Any) -> None:
    """Have it do nothing but our calls."""
    from litellm import main
    from litellm.llms.custom_httpx.http_handler import AsyncHTTPHandler
    from litellm.llms.openai.chat import gpt_transformation

    from runtime.models import frames
    from runtime.models.lean import repeated

    litellm.suppress_debug_info = True  # it prints advice to standard output otherwise
    litellm.DEFAULT_MAX_RETRIES = 0  # of embeddings, where a 0 of the call is taken for none
    litellm.drop_params = True  # a provider without, say, stream_options is asked without
    litellm.disable_token_counter = True  # to guess what providers count themselves
    main._encoding_cache = LateTable()  # else every call to a vendor loads it
    litellm.utils.update_response_metadata = no_notes
    looked = gpt_transformation.drop_non_python_regex_patterns
    gpt_transformation.drop_non_python_regex_patterns = Memo(looked)
    repeated.watch(main)
    AsyncHTTPHandler.create_client = frames.reading(AsyncHTTPHandler.create_client)
    AsyncHTTPHandler.create_async_transport = staticmethod(frames.bounding(AsyncHTTPHandler.create_async_transport))
    AsyncHTTPHandler.post = (
        AsyncHTTPHandler.post.__wrapped__
    )  # else a task tells each call's time to monitors that nobody has


def no_notes(**_: object) -> None:
    """In place of what LiteLLM notes beside every answer for its loggers and its proxy: times, headers, its cost, whose
    search is long for a model without a price (1.4 of the 7 ms that a message cost; the rest 0.15). Nobody here reads them."""


class Memo:
    """In place of a look that LiteLLM takes through the schema of each tool with each call, for patterns that OpenAI does
    not understand: with twenty tools some tenth of the call's processor time. What a model is offered stays the same
    objects from call to call (`messages.Offer`), so each needs one look.
    """

    def __init__(self, look: Callable[[Schema], Schema]) -> None:
        self._look = look
        self._seen: dict[int, tuple[Schema, Schema]] = {}

    def __call__(self, schema: Schema) -> Schema:
        known = self._seen.get(id(schema))
        if known is None or known[0] is not schema:
            if len(self._seen) >= SCHEMAS:
                self._seen.clear()
            known = self._seen[id(schema)] = (schema, self._look(schema))
        return known[1]


class LateTable:
    """Stands for LiteLLM's table of tokens (48 MB), which it hands on with each call: loaded by whoever looks into it.

    That is a vendor's part of LiteLLM which has to count because its answers do not tell.
    """

    def __getattr__(self, name: str) -> Any:
        from litellm.main import _load_default_encoding

        return getattr(_load_default_encoding(), name)


LIBRARY: Final = Library()
"""One for the process, as the imported module is."""


async def preload(model: str, beside: Sequence[Callable[[], object]] = (), *, lean: bool = True) -> None:
    """Pay the import and what a first call to `model` takes, so that the first message need not.

    `beside` is what else a first message would make, for the same thread.
    """
    await asyncio.sleep(AFTER_START)
    try:
        await LIBRARY.get(model, lean=lean)
    except Exception:
        log.exception("the model's client cannot be loaded")  # whoever needs it tries anew, and is told
    for make in beside:
        await asyncio.to_thread(make)
