"""`[tools.wasm]`: WebAssembly modules of the workspace."""

from __future__ import annotations

from datetime import timedelta

from pydantic import Field

from runtime.settings.types import Number, Section, Whole


class WasmSection(Section):
    """WebAssembly for `wasm_run`: [sandbox.md](containers.md#webassembly). A module sees the room's files alone."""

    enabled: bool = Field(default=False, description='Offers the tool `wasm_run`. Needs the extra "wasm".')
    memory_mib: Whole = Field(default=256, ge=1, le=4096, description="Most memory of a module.")
    fuel: Whole = Field(
        default=20_000_000_000,
        ge=1,
        le=1 << 62,
        description="Most instructions of one call, about: wasmtime counts them.",
    )
    timeout_seconds: Number = Field(default=30, gt=0, le=600, description="Longest time of a call.")

    @property
    def timeout(self) -> timedelta:
        return timedelta(seconds=self.timeout_seconds)
