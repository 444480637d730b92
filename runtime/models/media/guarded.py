"""A model of pictures behind the leak guard: it reads nothing that must not leave."""

from __future__ import annotations

from runtime.contract.media import ImageModel, Painted, Shape
from runtime.guard.door import Door
from runtime.guard.findings import Gate


class GuardedImages:
    """Implements `contract.media.ImageModel`."""

    def __init__(self, model: ImageModel, door: Door) -> None:
        self.name = model.name
        self._model = model
        self._door = door

    async def paint(self, prompt: str, shape: Shape, count: int) -> Painted:
        return await self._model.paint(self._door.known(prompt, Gate.HANDED_ON, ""), shape, count)
