"""Wrappers that pass everything on: what watches a tool or an adapter changes only what it watches."""

from __future__ import annotations

from runtime.contract import Address, ChannelAdapter, ConnectionStatus, Delivery, Progress, Sink, Tool, ToolSpec, Wire


class AroundTool:
    """All of `contract.Tool` but its call."""

    def __init__(self, tool: Tool) -> None:
        self._tool = tool

    @property
    def spec(self) -> ToolSpec:
        return self._tool.spec

    def caution(self) -> str:
        return self._tool.caution()


class AroundAdapter:
    """All of `contract.ChannelAdapter` but what goes to the platform."""

    def __init__(self, adapter: ChannelAdapter) -> None:
        self.channel = adapter.channel
        self.account = adapter.account
        self.capabilities = adapter.capabilities
        self._adapter = adapter

    @property
    def identity(self) -> str:
        """Perhaps empty until the platform has told it."""
        return self._adapter.identity

    async def listen(self, sink: Sink) -> None:
        await self._adapter.listen(sink)

    def render(self, delivery: Delivery) -> list[Wire]:
        return self._adapter.render(delivery)

    def progress(self, address: Address, event: Progress) -> None:
        self._adapter.progress(address, event)

    def standing(self) -> ConnectionStatus:
        return self._adapter.standing()
