"""The tool that speaks: a recording of words, attached to the reply."""

from __future__ import annotations

import asyncio
import hashlib
import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, cast

from runtime.contract import Carries, Effect, FileRef, Flow, Reads, Tool, ToolContext
from runtime.contract.media import Spending, VoiceModel
from runtime.errors import ToolFailed, ToolRetry
from runtime.markup import parse, to_plain
from tools.files.files import replace
from tools.kit.declare import tool
from tools.pictures.files import MEDIA_MAX_BYTES, SOUND_MIME, recording_at, sound_kind
from tools.pictures.money import MEDIA_TIMEOUT, affordable, asked, charge

SPEECH_FOLDER: Final = "speech"
RECORDING_NAME_MAX_CHARS: Final = 40
TEXT_TAG: Final = re.compile(r"</?[A-Za-z][^<>]{0,200}>")
VOICE_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._:/@+-]{0,99}")
SPEAKING: Final = Flow(
    Reads.OURS, stays=True, writes=SPEECH_FOLDER, carries={"text": Carries.WORDS, "voice": Carries.DETAIL}
)
"""It is heard in this room alone. What is written down of a recording of outside words is outside words."""
NOTHING_TO_SPEAK: Final = "There are no words in that text to speak."
NO_SOUND: Final = "The model of voices sent something that is no recording: {what}. It may cost money all the same."
BEGINS_MAX_BYTES: Final = 12
"""Of something that is no recording, as far as it is told."""


@dataclass(frozen=True, slots=True)
class Voice:
    """A model that speaks, the voice in which it does so unless a call names one, and the characters of a call."""

    model: VoiceModel
    usual: str
    max_chars: int


SPOKEN_BY_NOBODY: Final = Voice(cast("VoiceModel", None), "", 0)
"""For whoever only looks at the tool."""


def speak_tool(voice: Voice, spending: Spending | None) -> Tool:
    # WRITE, though it changes nothing that is anyone's: a call that was cut by a kill may be paid already, so people are asked
    # whether it is made again. A rule that is shipped lets it run unasked otherwise.
    @tool(effect=Effect.WRITE, timeout=MEDIA_TIMEOUT, output_bound=1_000, seldom=True, flow=SPEAKING)
    async def speak(
        text: Annotated[str, "The words, as they are to be heard."],
        context: ToolContext,
        voice: Annotated[str, "Name of a voice; empty: the usual one."] = "",
    ) -> str:
        """Have a text spoken by a voice model (costs money); the recording is attached to the reply."""
        words, by = await asyncio.to_thread(_words, text, given.max_chars), voice.strip() or given.usual
        if not VOICE_NAME.fullmatch(by):
            raise ToolRetry("A voice is a name such as alloy.")
        path = _path(words, by, context)
        if (file := await asyncio.to_thread(_there, context.workspace, path)) is None:
            await affordable(spending, context)
            spoken = await asked(given.model.speak(words, by))
            await charge(spending, context, spoken.usage)
            file = await asyncio.to_thread(_kept, context.workspace, path, spoken.recording)
        context.attach(file)
        return f"Made {file.path} ({file.size // 1024 + 1} kB). It is attached to your reply."

    given = voice
    return speak


def _words(text: str, most: int) -> str:
    """The words of a text without its Markdown, of which nobody wants to hear the signs. Errors: ToolRetry."""
    if len(text) > most:
        raise ToolRetry(f"The text has {len(text):,} characters; at most {most:,} are spoken at once. Shorten it.")
    plain = to_plain(parse(text)).strip().encode(errors="replace").decode()  # half a surrogate pair is no word
    if not any(map(str.isalnum, TEXT_TAG.sub("", plain))):
        raise ToolRetry(NOTHING_TO_SPEAK)
    return plain


def _path(words: str, voice: str, context: ToolContext) -> str:
    """Path of a call's recording without its ending: the same for a call that is made again after a kill."""
    name = re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")[:RECORDING_NAME_MAX_CHARS].rstrip("-") or "speech"
    told = f"{context.run_id}\0{context.call_id}\0{voice}\0{words}"
    return f"{SPEECH_FOLDER}/{name}-{hashlib.sha256(told.encode()).hexdigest()[:8]}"


def _there(workspace: Path, path: str) -> FileRef | None:
    """The recording of a call that was cut after it had made it."""
    for kind, mime in SOUND_MIME.items():
        with suppress(ToolFailed):
            _, data = recording_at(workspace, f"{path}.{kind}")
            return _file(f"{path}.{kind}", len(data), mime)
    return None


def _kept(workspace: Path, path: str, recording: bytes) -> FileRef:
    kind = sound_kind(recording)
    if not kind:
        raise ToolFailed(
            NO_SOUND.format(what=f"it begins with {recording[:BEGINS_MAX_BYTES]!r}" if recording else "nothing")
        )
    if len(recording) > MEDIA_MAX_BYTES:
        raise ToolFailed(f"The recording has more than {MEDIA_MAX_BYTES >> 20} MiB, so it was not kept.")
    replace(workspace, f"{path}.{kind}", recording)
    return _file(f"{path}.{kind}", len(recording), SOUND_MIME[kind])


def _file(path: str, size: int, mime: str) -> FileRef:
    return FileRef(Path(path).name, path, size, mime=mime)
