"""Wrappers that pass everything on: what watches a tool or an adapter changes only what it watches."""

from __future__ import annotations

from runtime.contract import ChannelAdapter, ConnectionStatus, Delivery, Features, Sink, Tool, ToolSpec, Wire


class ToolWrapper:
    """All of `contract.Tool` but its call."""

    def __init__(self, tool: Tool) -> None:
        self._tool = tool
        self.spec: ToolSpec = tool.spec  # looked at for each message: no property

    def caution(self) -> str:
        return self._tool.caution()


class AdapterWrapper:
    """All of `contract.ChannelAdapter` but what goes to the platform."""

    def __init__(self, adapter: ChannelAdapter) -> None:
        self.channel = adapter.channel
        self.account = adapter.account
        self._adapter = adapter

    @property
    def identity(self) -> str:
        """Perhaps empty until the platform has told it."""
        return self._adapter.identity

    def features(self) -> Features:
        return self._adapter.features()

    async def listen(self, sink: Sink) -> None:
        await self._adapter.listen(sink)

    def render(self, delivery: Delivery) -> list[Wire]:
        return self._adapter.render(delivery)

    def standing(self) -> ConnectionStatus:
        return self._adapter.standing()
