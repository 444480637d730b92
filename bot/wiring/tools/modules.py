"""Tools that run containers and WebAssembly modules, where the settings turn them on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from bot.settings.settings import Settings
from bot.wiring.engine import shell_of
from runtime.contract import Space, Tool

if TYPE_CHECKING:
    from tools.containers.boxes import Containers


def containers_of(settings: Settings) -> Containers | None:
    """None where no image may be used. No program is looked for before the first command."""
    table = settings.tools.containers
    if not table.images:
        return None
    from tools.containers.boxes import Containers
    from tools.containers.engines import ContainerTerms

    shell = shell_of(settings)
    return Containers(
        ContainerTerms(
            table.images,
            settings.data_dir / "containers",
            program=table.program,
            runtime=table.runtime,
            uid=shell.uid,
            memory_mib=table.memory_mib,
            cpus=table.cpus,
            processes=table.processes,
            file_mib=shell.file_mib,
            timeout=table.timeout,
        )
    )


def module_tools(settings: Settings, containers: Containers | None, space: Space) -> Mapping[str, Tool]:
    """By name; empty where both are off."""
    tools: list[Tool] = []
    if containers is not None:
        from tools.containers.tool import container_tool

        tools.append(container_tool(containers, space))
    if settings.tools.wasm.enabled:
        from tools.wasm.tool import WasmTerms, wasm_tool

        wasm, shell = settings.tools.wasm, shell_of(settings)
        terms = WasmTerms(shell.uid, wasm.memory_mib, wasm.fuel, shell.file_mib, wasm.timeout)
        tools.append(wasm_tool(terms, space))
    return {tool.spec.name: tool for tool in tools}
