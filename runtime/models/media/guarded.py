"""Models of pictures and voices behind the leak guard: they read nothing that must not leave."""

from __future__ import annotations

from runtime.contract.media import ImageModel, Painted, Shape, Spoken, VoiceModel
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


class GuardedVoice:
    """Implements `contract.media.VoiceModel`."""

    def __init__(self, model: VoiceModel, door: Door) -> None:
        self.name = model.name
        self._model = model
        self._door = door

    async def speak(self, text: str, voice: str) -> Spoken:
        return await self._model.speak(self._door.known(text, Gate.HANDED_ON, ""), voice)
