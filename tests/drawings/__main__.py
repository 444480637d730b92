"""Draws every card on three wires, side by side, or on the page.

python -m tests.drawings FOLDER [SITUATION …]       a picture of each
python -m tests.drawings PICTURE.png SITUATION …    one picture of them all
python -m tests.drawings page FOLDER [SITUATION …]  the page's: light, dark, and on a phone; several in a picture
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from playwright.async_api import async_playwright

from runtime.contract import Content
from tests.drawings.page import sheets
from tests.drawings.situations import situations
from tests.drawings.wires import WIRES
from tests.e2e.browser import executable

STYLE: Final = """
body { margin: 0; font: 15px/1.4 sans-serif; background: #fff; color: #1d1c1d; width: 1290px }
section { display: grid; grid-template-columns: 1fr 1fr 1fr; gap: 12px; padding: 12px }
h2 { grid-column: 1 / 4; margin: 0; font-size: 14px; color: #666; font-weight: normal }
h2.heads { display: contents; color: #222 }
.Slack .message { border-left: 4px solid #ddd; padding: 2px 10px }
.Telegram .message { background: #eef4fa; border-radius: 12px; padding: 8px 12px }
.Discord .message { background: #313338; color: #dbdee1; border-radius: 6px; padding: 8px 12px }
.message { margin-bottom: 8px; overflow-wrap: anywhere }
p { margin: 4px 0 } .pre { white-space: pre-wrap }
pre { background: #8882; border: 1px solid #8884; border-radius: 4px; padding: 6px; white-space: pre-wrap; margin: 4px 0 }
code { font: 12.5px monospace } blockquote { border-left: 3px solid #999; margin: 4px 0; padding-left: 8px }
.button { border: 1px solid #999; border-radius: 4px; padding: 3px 10px; margin-right: 6px; font-weight: bold; font-size: 13px }
.row { display: flex; flex-wrap: wrap; row-gap: 6px; margin-top: 8px } .Telegram .row { flex-wrap: nowrap; text-align: center }
.Telegram .button { flex: 1; background: #d5e3f0; border: 0 }
.go { background: #007a5a; color: #fff; border-color: #007a5a } .no { background: #c01343; color: #fff; border-color: #c01343 }
.Discord a { color: #00a8fc } .token { background: #1d9bd122; border-radius: 3px } .small { font-size: 12px; color: #777 } .unknown { color: red }
"""


def sheet(shown: Mapping[str, Content]) -> str:
    """One page with a row for each situation, and a column for each platform."""
    rows = []
    for name, content in shown.items():
        drawn = "".join(f"<div class={wire}>{draw(content)}</div>" for wire, draw in WIRES.items())
        rows.append(f"<section><h2>{name}</h2>{drawn}</section>")
    return f"<!doctype html><meta charset=utf-8><style>{STYLE}</style>{''.join(rows)}"


async def draw(pages: Mapping[Path, str], program: str) -> None:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = await browser.new_page(viewport={"width": 1290, "height": 100})
        for picture, drawn in pages.items():
            await page.set_content(drawn)
            await page.screenshot(path=picture, full_page=True)
        await browser.close()


def main() -> None:
    program = executable()
    if program is None:
        sys.exit("There is no Chromium here; tests/setup.sh chromium installs one.")
    on_page = sys.argv[1] == "page"
    folder, *names = sys.argv[1 + on_page :]
    into, known = Path(folder), situations()
    wanted = {name: known[name] for name in names} or known
    if on_page:
        into.mkdir(parents=True, exist_ok=True)
        asyncio.run(sheets(wanted, into, program))
        return
    if into.suffix == ".png":
        pages = {into: sheet(wanted)}
    else:
        into.mkdir(parents=True, exist_ok=True)
        pages = {into / f"{name.replace(' ', '-')}.png": sheet({name: content}) for name, content in wanted.items()}
    asyncio.run(draw(pages, program))


if __name__ == "__main__":
    main()
