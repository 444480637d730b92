"""LiteLLM loaded in a process of its own: `python -m tests.fakes.lean_process WHAT` prints what was seen there, as JSON."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from importlib import import_module
from types import MappingProxyType, ModuleType
from typing import Any, Final

from structlog.testing import capture_logs

from bot.tryouts.model import Answered, try_given
from runtime.contract import ModelRequest, UserTurn
from runtime.errors import ModelFailed
from runtime.models.lean import late, parts
from runtime.models.lean.rehearsal import rehearse, rehearsed
from runtime.models.lean.stand_in import Late, LateCall
from runtime.models.litellm_loading import LIBRARY, VARIABLES, preload, set_up
from runtime.models.litellm_model import LiteModel
from runtime.models.settings import ModelSettings
from tests.fakes.vendor_calls import MODELS, SAMPLE, Vendor, calls, serving

Seen = dict[str, Any]

FIRST: Final = "openai/gpt-4o"
UNUSED: Final = (
    *("litellm.router", "litellm.llms.oci.common_utils", "openai.types.beta.assistant"),
    "cryptography.hazmat.primitives",
)
HEAVY: Final = ("botocore", "boto3", "hf_xet", "tokenizers", "tiktoken", "huggingface_hub", "mcp", "httpx._main")
IMPORTS: Final = """
from openai.types.beta import Assistant
from openai.types.beta import Thread, AssistantTool
from openai import AssistantEventHandler as OneMore
from openai import *
from tiktoken import Encoding
from litellm import BudgetManager
from litellm.router import *
"""
"""What a plugin may do."""

WHOLE: Final = "the whole"


def main(what: str) -> None:
    os.environ.update(dict.fromkeys(VARIABLES, "True"))
    sys.stdout.write(json.dumps(WAYS[what]()) + "\n")


def real(prefix: str) -> list[str]:
    """Modules that were executed."""
    return [name for name, it in sys.modules.items() if name.startswith(prefix) and type(it) is not late.LateModule]


# -------------------------------------------------------------------------------------------------------------- lean


async def lean() -> Seen:
    """Everything that one lean load can show, in the order in which it loads more and more."""
    return {
        "first": await first_call(FIRST),
        **await with_vendors(SAMPLE),
        "faults": await faults(),
        "others": others(),
        "missing": missing(),
    }


async def first_call(model: str) -> Seen:
    """Parts and processor time that loading ahead takes, and the longest work that holds the loop."""
    gaps, full = [0.0], list[str]()
    gc.callbacks.append(
        lambda phase, told: full.append(phase) if told["generation"] == 2 and phase == "start" else None
    )
    before = gc.get_threshold()
    singing = asyncio.create_task(canary(gaps))
    used = time.process_time()
    with capture_logs() as logs:
        await preload(model)
    used = time.process_time() - used
    gc.callbacks.pop()
    singing.cancel()
    litellm = await LIBRARY.get()
    return {
        "logs": logs,
        "gap": max(gaps),
        "collections": [len(full), gc.get_threshold() == before, gc.isenabled()],
        "used": used,
        "types": len(real("openai.types")),
        "unused": [name for name in UNUSED if name in real(name)],
        "heavy": [name for name in HEAVY if real(name)],
        "rows": len(litellm.model_cost._rows),
        "again": await asyncio.to_thread(rehearse, litellm, model),
    }


async def canary(gaps: list[float]) -> None:
    """Processor seconds from beat to beat: what another process takes holds the loop as well, but is not ours."""
    last = time.process_time()
    while True:
        await asyncio.sleep(0.002)
        gaps.append(time.process_time() - last)
        last = time.process_time()


async def with_vendors(models: Mapping[str, str]) -> Seen:
    litellm = await LIBRARY.get()
    return {"prices": type(litellm.model_cost).__name__, "calls": await calls(litellm, models)}


async def faults() -> Seen:
    """Calls that fail: for the vendor's reason, and then twice because a late part is gone from the disk."""
    vendor = Vendor()
    vendor.status = 401
    async with serving(vendor) as base:
        model = LiteModel(ModelSettings(FIRST, base, "sk-hidden-key", max_retries=0))
        with capture_logs() as of_the_vendor:
            await failing(model)
        with router_gone("/nowhere/sk-hidden-key.py"), capture_logs() as of_lean:
            said = [await failing(model), await failing(model)]
    return {"vendor": of_the_vendor, "lean": of_lean, "said": said}


@contextmanager
def router_gone(place: str) -> Iterator[None]:
    """A call needs what a late module has, and that module's file is not there."""
    calling: Any = import_module("litellm.main")
    module = sys.modules["litellm.router"]
    loader = vars(module)["__late__"]
    needed, path = calling.get_llm_provider, loader._loader.path
    calling.get_llm_provider, loader._loader.path = Late(loader, module, "Router"), place
    try:
        yield
    finally:
        calling.get_llm_provider, loader._loader.path = needed, path


async def failing(model: LiteModel) -> str:
    with suppress(ModelFailed):
        await model.reply(ModelRequest("", [UserTurn("hi")], []), lambda text: None)
        return "an answer"
    return "a failure"


def others() -> Seen:
    """Things that everybody else is given who imports."""
    litellm: Any = import_module("litellm")
    plugin: dict[str, Any] = {"__name__": "plugin"}
    exec(IMPORTS, plugin)
    return {
        "stand-ins": [name for name, given in plugin.items() if type(given) in (Late, LateCall)],
        "kinds": [isinstance(plugin[name], type) for name in ("Assistant", "Thread", "Encoding", "Router", "OneMore")],
        "same": litellm.Router is plugin["Router"],
        "known": [
            name for name in ("json", "openai", "httpx", "botocore", "typings") if parts.FINDER.find_spec(name, None)
        ],
        "image": litellm.aimage_generation.__name__,
        "unknown": hasattr(litellm, "no_such_name"),
        "tokenizer": len(litellm.utils.claude_json_str),
    }


def missing() -> list[str]:
    """Names that stand-ins stand for and that are not there."""
    wrong = []
    for name, module in sorted(sys.modules.items()):
        loader = vars(module).get("__late__") if module else None
        for given in list(loader._given) if loader else ():
            try:
                vars(module)["__late__"].real(module, given)
            except Exception as error:  # noqa: BLE001 - any is a fault of it
                wrong.append(f"{name}: {given}: {error!r}")
    return wrong


# ------------------------------------------------------------------------------------------------------ the ways back


def whole() -> Seen:
    """Each way back to the whole, of which the load is left out; and then that, by the setting."""
    return {"ways": {name: way_back(spoil) for name, spoil in SPOILT.items()}, **asyncio.run(by_setting())}


async def by_setting() -> Seen:
    vendor = Vendor()
    vendor.is_streamed = True
    async with serving(vendor) as base:
        with capture_logs() as logs:
            answer = await try_given(ModelSettings(FIRST, base, "k", lean=False))
    litellm = await LIBRARY.get()
    return {
        "answer": isinstance(answer, Answered),
        "logs": logs,
        "is_lean": parts.is_lean(),
        "types": len(real("openai.types")),
        "again": await asyncio.to_thread(rehearse, litellm, FIRST),
        **await with_vendors(SAMPLE),
    }


def way_back(spoil: Callable[[], None]) -> Seen:
    """Lines of the log, and leftovers of LiteLLM."""
    before = dict(vars(parts))
    vars(parts)["whole"] = lambda prepare: WHOLE
    spoil()
    with capture_logs() as logs:
        given = parts.imported(set_up)
    vars(parts).update(before)
    parts.FINDER._adaptations = parts.ADAPTATIONS
    left = [name for name in sys.modules if name.partition(".")[0] in ("litellm", "openai", "tiktoken")]
    return {"given": given, "logs": logs, "left": left, "is_lean": parts.is_lean()}


def another_release() -> None:
    vars(parts)["RELEASE"] = "0.0.1"


def failing_part() -> None:
    def fails(module: ModuleType) -> None:
        raise AttributeError("json_data")

    parts.FINDER._adaptations = {**parts.ADAPTATIONS, "litellm.litellm_core_utils.get_model_cost_map": fails}


def unusable() -> None:
    vars(parts)["WORDS"] = "another word"


SPOILT: Final = MappingProxyType({"another": another_release, "failing": failing_part, "unusable": unusable})


# ------------------------------------------------------------------------------------------------------------ threads


def threads() -> Seen:
    """First uses of eight parts and eight calls, at once."""
    litellm = parts.imported(set_up)
    uses = {
        "openai.types.beta": "Assistant",
        "litellm.router": "Router",
        "litellm.responses.main": "responses",
        "litellm.llms.oci.chat.transformation": "OCIChatConfig",
    }
    acts: Sequence[Callable[[], object]] = [
        *[partial(use, module, name) for module, name in uses.items()] * 2,
        *[partial(rehearsed, litellm, model) for model in ("openai/a", "anthropic/b")] * 4,
    ]
    start, wrong = threading.Barrier(len(acts)), list[str]()
    running = [threading.Thread(target=tried, args=(act, start, wrong), daemon=True) for act in acts]
    for one in running:
        one.start()
    for one in running:
        one.join(60)
    from pydantic import BaseModel

    alive = sum(one.is_alive() for one in running)
    return {"count": len(acts), "wrong": wrong, "alive": alive, "deferred": BaseModel.model_config["defer_build"]}


def use(module: str, name: str) -> None:
    if type(getattr(import_module(module), name)) is Late:
        raise TypeError(f"{module}.{name} is a stand-in")


def tried(act: Callable[[], object], start: threading.Barrier, wrong: list[str]) -> None:
    start.wait()
    try:
        act()
    except BaseException as error:  # noqa: BLE001 - told by the process
        wrong.append(repr(error))


# -------------------------------------------------------------------------------------------------------- the matrix


async def matrix(lean: bool) -> Seen:
    """All vendors with one form."""
    await LIBRARY.get(lean=lean)
    return await with_vendors(MODELS)


WAYS: Final[Mapping[str, Callable[[], Seen]]] = MappingProxyType(
    {
        "lean": lambda: asyncio.run(lean()),
        "whole": whole,
        "threads": threads,
        "lean-matrix": lambda: asyncio.run(matrix(lean=True)),
        "whole-matrix": lambda: asyncio.run(matrix(lean=False)),
        "openai": lambda: asyncio.run(first_call(FIRST)),
        "anthropic": lambda: asyncio.run(first_call("anthropic/claude-sonnet-4-5")),
    }
)


if __name__ == "__main__":
    main(sys.argv[1])
