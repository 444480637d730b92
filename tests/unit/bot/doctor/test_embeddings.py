"""`signalbox doctor` on the model of embeddings, and how the settings find its key."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.doctor.services.embeddings import check_embeddings
from bot.doctor.subject import Subject
from bot.settings.settings import load_usable
from bot.wiring.memory.embedder import embedding_settings

PACK = '[[knowledge]]\nname = "handbook"\nfolder = "handbook"\n'
OPENAI = '[embeddings]\nname = "openai/text-embedding-3-small"\n'


def subject(folder: Path, text: str, **variables: str) -> Subject:
    file = folder / "signalbox.toml"
    file.write_text(text)
    settings, faults = load_usable(file, environ=variables)
    return Subject(settings, faults, None, None)


@pytest.mark.parametrize(
    ("text", "variables", "told"),
    [
        ("", {}, "embeddings.name: memory is searched by words only; for meaning too, set embeddings.name"),
        ("[memory]\nenabled = false\n", {}, ""),
        (
            PACK,
            {},
            "embeddings.name: memory and documents are searched by words only; for meaning too, set embeddings.name",
        ),
        (
            f"[memory]\nenabled = false\n{PACK}",
            {},
            "embeddings.name: documents are searched by words only; for meaning too, set embeddings.name",
        ),
        (OPENAI, {}, "embeddings.key: openai/text-embedding-3-small: it needs a key, and none was found"),
        (
            f'{OPENAI}api_base = "http://127.0.0.1:9/v1"\n',
            {},
            "embeddings.reachable: 127.0.0.1:9 can't be reached (Connection refused)",
        ),
    ],
)
async def test_doctor_says_how_memory_is_searched(
    tmp_path: Path, text: str, variables: dict[str, str], told: str
) -> None:
    found = [f"{one.id}: {one.what}" for one in await check_embeddings(subject(tmp_path, text, **variables))]
    assert (found[-1] if found else "") == told


async def test_the_key_is_found_under_its_vendors_name(tmp_path: Path) -> None:
    settings = subject(tmp_path, OPENAI, OPENAI_API_KEY="sk-of-the-vendor").settings
    given = embedding_settings(settings)
    assert given
    assert given.keys == ("sk-of-the-vendor",)
    assert "sk-of-the-vendor" not in repr(settings)


async def test_a_name_without_a_vendor_is_a_fault(tmp_path: Path) -> None:
    assert "embeddings.name: nomic names no provider" in str(subject(tmp_path, '[embeddings]\nname = "nomic"\n').faults)
    [found] = await check_embeddings(subject(tmp_path, '[embeddings]\nname = "opnai/x"\n'))
    assert found.what == 'there is no provider "opnai"; did you mean openai/x?'
