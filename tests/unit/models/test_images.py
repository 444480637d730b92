"""Which images a model is shown."""

from __future__ import annotations

from base64 import b64decode
from pathlib import Path
from typing import Final

import pytest

from runtime.contract import AssistantTurn, FileRef, ModelRequest, Turn, UserTurn
from runtime.models.images import MOST_BYTES, REQUEST_MAX_IMAGES, Images, Sight, kind_of, kinds, pictures, takes_images
from runtime.workspace.safe_fs import reading

PNG: Final = b"\x89PNG\r\n\x1a\n" + bytes(20)
JPEG: Final = b"\xff\xd8\xff\xe0" + bytes(20)
GIF: Final = b"GIF89a" + bytes(20)
WEBP: Final = b"RIFF\x00\x00\x00\x00WEBP" + bytes(20)


class Shelf:
    """A workspace with files."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def put(self, path: str, data: bytes) -> FileRef:
        (self._root / path).write_bytes(data)
        return FileRef(path, path, len(data))

    def request(self, *turns: Turn) -> ModelRequest:
        return ModelRequest("", turns, [], lambda path: reading(self._root, path))


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path)


@pytest.mark.parametrize(
    ("data", "kind"),
    [(PNG, "image/png"), (JPEG, "image/jpeg"), (GIF, "image/gif"), (WEBP, "image/webp"), (b"<svg>", None), (b"", None),
     (b"RIFF\x00\x00\x00\x00WAVE", None), (b"BM" + bytes(20), None)],
)  # fmt: skip
def test_an_image_is_told_by_its_bytes(data: bytes, kind: str | None, shelf: Shelf) -> None:
    assert kind_of(data) == kind
    file = shelf.put("liar.txt", data)
    assert dict(kinds(shelf.request(UserTurn("see", files=(file,))))) == ({"liar.txt": kind} if kind else {})


def test_what_the_model_gets_are_the_bytes(shelf: Shelf) -> None:
    (url,) = pictures(shelf.request(UserTurn("see", files=(shelf.put("a.png", PNG),)))).values()
    assert b64decode(url.removeprefix("data:image/png;base64,")) == PNG


def test_only_the_newest_images_go(shelf: Shelf) -> None:
    files = [shelf.put(f"{number}.png", PNG) for number in range(REQUEST_MAX_IMAGES + 2)]
    turns = [turn for file in files for turn in (UserTurn("see", files=(file,)), AssistantTurn("seen"))]
    assert sorted(pictures(shelf.request(*turns))) == [f"{number}.png" for number in range(2, REQUEST_MAX_IMAGES + 2)]


def test_an_image_that_is_too_large_or_gone_is_left_out(shelf: Shelf) -> None:
    small = shelf.put("small.png", PNG + bytes(MOST_BYTES - len(PNG)))
    large = shelf.put("large.png", PNG + bytes(MOST_BYTES - len(PNG) + 1))
    gone, outside = FileRef("gone.png", "gone.png", 5), FileRef("x", "../x.png", 5)
    assert list(pictures(shelf.request(UserTurn("see", files=(small, large, gone, outside))))) == ["small.png"]


def test_a_link_that_a_tool_left_is_not_looked_at(shelf: Shelf, tmp_path: Path) -> None:
    shelf.put("a.png", PNG)
    (tmp_path / "link.png").symlink_to(tmp_path / "a.png")
    assert not pictures(shelf.request(UserTurn("see", files=(FileRef("link.png", "link.png", 5),))))


class Lists:
    """LiteLLM's list of what models can do; asking it is counted."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def supports_vision(self, model: str) -> bool:
        self.asked.append(model)
        if model == "unknown":
            raise ValueError("This model isn't mapped yet")
        return model == "sees"


@pytest.mark.parametrize(
    ("model", "images", "shown"),
    [("sees", Images.AUTO, True), ("blind", Images.AUTO, False), ("unknown", Images.AUTO, False), ("blind", Images.ON, True), ("sees", Images.OFF, False)],
)  # fmt: skip
async def test_a_model_is_shown_images_if_it_looks_at_them_or_a_setting_says_so(
    model: str, images: Images, shown: bool, shelf: Shelf
) -> None:
    lists, sight = Lists(), Sight(model, images)
    request = shelf.request(UserTurn("see", files=(shelf.put("a.png", PNG),)))
    for _ in range(2):
        assert bool(await sight.images(lists, request)) is shown
    assert len(lists.asked) == (images is Images.AUTO)


async def test_the_list_is_not_asked_where_there_is_nothing_to_see(shelf: Shelf) -> None:
    lists = Lists()
    assert not await Sight("sees", Images.AUTO).images(lists, shelf.request(UserTurn("hi")))
    assert lists.asked == []


async def test_an_image_that_was_refused_is_not_shown_again(shelf: Shelf) -> None:
    sight = Sight("sees", Images.ON)
    bad, good = shelf.put("bad.png", PNG), shelf.put("good.gif", GIF)
    request = shelf.request(UserTurn("see", files=(bad,)))
    sight.refuse(await sight.images(Lists(), request))
    assert not await sight.images(Lists(), request)
    assert list(await sight.images(Lists(), shelf.request(UserTurn("see", files=(bad, good))))) == ["good.gif"]


@pytest.mark.xdist_group("litellm")
@pytest.mark.timeout(120)  # importing LiteLLM takes seconds
@pytest.mark.filterwarnings("ignore:.*`ReadOnly` qualifier")  # LiteLLM sets this filter itself; pytest resets it
def test_the_real_list_knows_who_looks() -> None:
    import litellm

    assert takes_images(litellm, "openai/gpt-4o")
    assert not takes_images(litellm, "openai/gpt-3.5-turbo")
    assert not takes_images(litellm, "openai/a-model-of-my-own")
