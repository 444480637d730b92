"""Containers and WebAssembly: can they be run here, and are the images there."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from typing import Final

from bot.doctor.subject import Subject, fault, fine, warning
from bot.wiring.tools.modules import containers_of
from runtime.contract import Finding
from runtime.errors import ToolFailed

WHY_CONTAINERS: Final = "Each call of container_exec says so, and nothing is run."
WHY_WASM: Final = "Each call of wasm_run says so, and no module is run."


async def check_modules(subject: Subject) -> Sequence[Finding]:
    return [*await _containers(subject), *_wasm(subject)]


async def _containers(subject: Subject) -> Sequence[Finding]:
    containers = containers_of(subject.settings)
    if containers is None:
        return []
    try:
        engine = await containers.works()
        missing = [image for image in containers.terms.images if not await containers.has(image)]
    except ToolFailed as error:
        fix = "do what it says, or empty images in [tools.containers]"
        return [fault("containers.works", str(error), WHY_CONTAINERS, fix)]
    terms = containers.terms
    bounds = f"{terms.memory_mib} MiB, {terms.cpus:g} processors and {terms.processes} processes each, no network"
    works = fine("containers.works", f"{engine.kind}, as user {engine.uid}: {bounds}")
    why = "Commands in it fail: none is fetched by itself."
    return [
        works,
        *(warning("containers.images", f"{one} isn't here", why, f"{engine.kind} pull {one}") for one in missing),
    ]


def _wasm(subject: Subject) -> Sequence[Finding]:
    wasm = subject.settings.tools.wasm
    if not wasm.enabled:
        return []
    if importlib.util.find_spec("wasmtime") is None:
        fix = 'pip install "signalbox-bot[wasm]", or set enabled = false in [tools.wasm]'
        return [fault("wasm.works", "wasmtime is not installed", WHY_WASM, fix)]
    bounds = f"{wasm.memory_mib} MiB, {wasm.fuel:,} instructions and {wasm.timeout_seconds:g} s each"
    return [fine("wasm.works", f"modules run in processes of their own: {bounds}")]
