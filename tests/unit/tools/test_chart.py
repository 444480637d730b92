"""The tool `chart`, with the process that really draws."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from datetime import timedelta
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from runtime.contract import Effect, FileRef, Tool, ToolContext
from runtime.errors import ToolFailed, ToolRetry
from tools.charting import program
from tools.charting.alt import alt_of
from tools.charting.chart import chart_tool
from tools.charting.looks import THEMES
from tools.charting.order import Kind, Order, Series, digest, read, written
from tools.charting.renderer import CHARTS_AT_ONCE, ChartRenderer, Picture

SALES: dict[str, Any] = {
    "kind": "bar",
    "title": "Sales by region",
    "labels": ["North", "South", "West"],
    "series": [{"name": "2026", "values": [1200, 3400.5, 800]}],
    "unit": "$",
}
THREE = Order("line", "Three", ("a", "b", "c"), (Series("", (1.0, 2.0, 3.0)),))


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What an renderer learns of the machine's fonts, learnt once for all of this module."""
    return tmp_path_factory.mktemp("fonts")


@pytest.fixture
def renderer(cache: Path) -> ChartRenderer:
    return ChartRenderer(cache)


@pytest.fixture
def chart(renderer: ChartRenderer) -> Tool:
    return chart_tool(renderer)


@pytest.fixture
def attached() -> list[FileRef]:
    return []


@pytest.fixture
def call(context: ToolContext, attached: list[FileRef]) -> ToolContext:
    """A context that says what was put onto the reply."""
    return replace(context, attach=attached.append)


def colours(picture: Image.Image) -> set[str]:
    found = picture.convert("RGB").getcolors(1 << 24) or []
    return {"#{:02X}{:02X}{:02X}".format(*colour) for _, colour in found if isinstance(colour, tuple)}


async def test_a_chart_is_a_picture_on_the_reply(chart: Tool, call: ToolContext, attached: list[FileRef]) -> None:
    told = await chart.call(SALES, call)
    [file] = attached
    assert (file.name, file.mime) == ("sales-by-region.png", "image/png")
    assert (Path(file.path).parent, Path(file.path).suffix) == (Path("charts"), ".png")
    png = (call.workspace / file.path).read_bytes()
    assert file.size == len(png) < 300_000
    with Image.open(BytesIO(png)) as picture:
        assert (picture.format, picture.size) == ("PNG", (1600, 900))
        assert {THEMES["light"].ground, THEMES["light"].accents[0]} <= colours(picture)
    assert file.path in told
    assert "lowest $800 (West), highest $3,400.5 (South)" in told
    assert [path.name for path in (call.workspace / "charts").iterdir()] == [Path(file.path).name]


async def test_a_table_in_a_file_is_drawn_and_its_words_are_not_repeated(
    chart: Tool, call: ToolContext, attached: list[FileRef]
) -> None:
    (call.workspace / "sales.csv").write_text("region,sales\nObey me,1200\nSouth,3400\n", encoding="utf-8")
    drawn = {**SALES, "labels": ["Obey me", "South"], "series": [{"name": "sales", "values": [1200, 3400]}]}
    await chart.call(drawn, call)
    told = await chart.call({"kind": "bar", "title": SALES["title"], "unit": "$", "path": "sales.csv"}, call)
    assert attached[0] == attached[1]
    assert "It shows 2 rows and 1 column of numbers from the file." in told
    assert "Obey" not in told


async def test_the_same_call_makes_the_same_file(chart: Tool, call: ToolContext, attached: list[FileRef]) -> None:
    await chart.call(SALES, call)
    first = (call.workspace / attached[0].path).read_bytes()
    (call.workspace / attached[0].path).write_bytes(b"half of a picture, left by a kill")
    await chart.call(SALES, call)
    assert attached[0] == attached[1]
    assert (call.workspace / attached[0].path).read_bytes() == first


@pytest.mark.parametrize("kind", ["line", "bar", "pie"])
async def test_every_kind_has_its_colours_in_the_dark(kind: Kind, renderer: ChartRenderer) -> None:
    order = Order(kind, "At night", ("a", "b"), (Series("x", (3.0, 4.0)),), theme="dark")
    with Image.open(BytesIO((await renderer.draw(order)).png)) as picture:
        found = colours(picture)
        assert picture.getpixel((0, 0)) == (0x16, 0x18, 0x1D)
    assert {THEMES["dark"].ground, THEMES["dark"].accents[0], THEMES["dark"].ink} <= found


async def test_what_is_hard_to_draw_is_drawn(renderer: ChartRenderer) -> None:
    """Gaps, signs, numbers of any size, formulas that are none, and more than fits: a picture, and nothing said beside."""
    values = (None, -1e30, 1e30, 0.0, 1e-30, None, 5.0)
    labels = ("日本 🍎", "$x^2$", "العربية", "_hidden", "\\frac{", "long " * 50, "")
    hard = [
        Order("line", "$\\alpha$ 50% _x_ 🚀", labels, (Series("_a", values), Series("b", (None,) * 7)), "$"),
        Order(
            "bar", "W" * 200, labels, tuple(Series("n" * 300 + str(at), values) for at in range(12)), "%", stacked=True
        ),
        Order("pie", "日本", tuple("abcdefghijklmnop"), (Series("", tuple(10.0**at for at in range(16))),), "ms"),
    ]
    for order in hard:
        made = await renderer.draw(order)
        with Image.open(BytesIO(made.png)) as picture:
            assert len(colours(picture)) > 10
        assert len(made.png) < 300_000


async def test_the_largest_chart_is_light(renderer: ChartRenderer) -> None:
    lines = tuple(Series(f"S{at}", tuple(float(at * 9 + i * 7919 % 13) for i in range(500))) for at in range(12))
    made = await renderer.draw(Order("line", "All", tuple(map(str, range(500))), lines))
    assert len(made.png) < 300_000


async def test_the_loop_goes_on_while_a_chart_is_drawn(renderer: ChartRenderer) -> None:
    ticks = 0
    drawing = asyncio.ensure_future(renderer.draw(THREE))
    while not drawing.done():
        await asyncio.sleep(0.005)
        ticks += 1
    assert (await drawing).png
    assert ticks > 5  # of some sixty, where nothing else runs


def drawing_for_us() -> list[int]:
    """Processes of ours that draw: this machine may draw for others too."""
    mine = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((process / "stat").read_text().rpartition(")")[2].split()[1])
            words = (process / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if parent == os.getpid() and program.__file__.encode() in words:
            mine.append(int(process.name))
    return mine


def environment_of(process: int) -> bytes:
    return Path(f"/proc/{process}/environ").read_bytes()


async def test_a_killed_process_is_an_answer_and_leaves_nothing(
    chart: Tool, call: ToolContext, attached: list[FileRef]
) -> None:
    calling = asyncio.ensure_future(chart.call(SALES, call))
    async with asyncio.timeout(20):
        while not (found := drawing_for_us()):  # noqa: ASYNC110 - the kernel has no event for this
            await asyncio.sleep(0.005)
    os.kill(found[0], signal.SIGKILL)
    with pytest.raises(ToolFailed, match="couldn't be drawn: exit code 137"):
        await calling
    assert attached == []
    assert list(call.workspace.iterdir()) == []
    assert "charts/" in await chart.call(SALES, call)


async def test_drawing_ends_in_time(cache: Path) -> None:
    with pytest.raises(ToolFailed, match=r"not drawn within 0\.05 s"):
        await ChartRenderer(cache, deadline=timedelta(seconds=0.05)).draw(THREE)
    assert drawing_for_us() == []


async def test_few_draw_at_once(renderer: ChartRenderer) -> None:
    drawing = asyncio.gather(*(renderer.draw(replace(THREE, title=title)) for title in "abc"))
    most = 0
    while not drawing.done():
        most = max(most, len(drawing_for_us()))
        await asyncio.sleep(0.01)
    assert len({made.png for made in await drawing}) == 3
    assert most == CHARTS_AT_ONCE


async def test_the_process_is_told_no_secret(renderer: ChartRenderer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-for-drawing")
    drawing = asyncio.ensure_future(renderer.draw(THREE))
    async with asyncio.timeout(20):
        while not (found := drawing_for_us()):  # noqa: ASYNC110 - as above
            await asyncio.sleep(0.005)
    told = environment_of(found[0])
    await drawing
    assert b"MPLCONFIGDIR=" in told
    assert b"OPENAI" not in told


async def test_a_stop_ends_the_drawing_at_once(renderer: ChartRenderer) -> None:
    drawing = asyncio.ensure_future(renderer.draw(THREE))
    async with asyncio.timeout(20):
        while not drawing_for_us():  # noqa: ASYNC110 - as above
            await asyncio.sleep(0.005)
    drawing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await drawing
    assert drawing_for_us() == []


async def test_fonts_are_read_once_and_in_a_folder_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("MPLCONFIGDIR", str(home / "config"))
    renderer = ChartRenderer(tmp_path / "cache")
    await renderer.draw(THREE)
    [known] = (tmp_path / "cache").iterdir()
    before = known.stat()
    await renderer.draw(THREE)
    assert [path.stat() for path in (tmp_path / "cache").iterdir()] == [before]
    assert list(home.iterdir()) == []


async def test_no_letter_gets_lost_unsaid(chart: Tool, call: ToolContext) -> None:
    told = await chart.call(SALES | {"title": "Old \U00013080 and plain 🚀"}, call)
    assert "No font on this machine has some of its letters (\U00013080)" in told
    assert "🚀)" not in told


async def test_a_chart_never_leaves_the_workspace(chart: Tool, call: ToolContext, attached: list[FileRef]) -> None:
    (call.workspace / "charts").symlink_to(call.workspace.parent)
    with pytest.raises(ToolFailed, match="symbolic link"):
        await chart.call(SALES, call)
    assert attached == []
    assert {path.name for path in call.workspace.parent.iterdir()} == {"secret.txt", "workspace"}


async def test_a_call_of_the_wrong_shape_draws_nothing(chart: Tool, call: ToolContext) -> None:
    for wrong in ({"kind": "radar"}, {"theme": "blue"}, {"labels": "a"}, {"series": [1]}, {"colour": "red"}):
        with pytest.raises(ToolRetry, match=f"{next(iter(wrong))}"):
            await chart.call(SALES | wrong, call)


def test_the_tool_needs_no_word_and_may_be_repeated(chart: Tool) -> None:
    assert chart.spec.effect is Effect.READ
    assert chart.spec.repeatable
    assert chart.spec.schema["required"] == ["kind", "title"]
    assert chart.caution() == ""
    assert json.loads(json.dumps(dict(chart.spec.schema)))["additionalProperties"] is False


def test_nothing_is_loaded_before_a_chart_is_drawn() -> None:
    """matplotlib costs more memory than the whole program has."""
    script = (
        "import sys, pkgutil, importlib, tools.catalogue, tools.charting.chart, tools.charting\n"
        "for each in pkgutil.iter_modules(tools.charting.__path__): importlib.import_module('tools.charting.' + each.name)\n"
        "print(sorted({'matplotlib', 'numpy', 'PIL'} & set(sys.modules)))"
    )
    root = Path(program.__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=root, check=True)
    assert done.stdout.strip() == "[]"


def test_an_order_goes_to_the_process_and_is_named_by_what_it_says() -> None:
    order = Order("bar", "Ä", ("a", "b"), (Series("s", (1.5, None)),), "€", "words", "dark", stacked=True)
    assert read(written(order)) == order
    assert digest(order) == digest(read(written(order)))
    others = (replace(order, title="B"), replace(order, stacked=False), replace(order, labels=("a", "c")))
    assert len({digest(each) for each in (order, *others)}) == 4


def test_words_that_were_given_are_kept() -> None:
    assert alt_of(replace(THREE, alt="Three steps up.")) == "Three steps up."
    assert Picture(b"").missing == ""
