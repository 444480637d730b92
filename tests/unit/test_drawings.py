"""Every card can be drawn from what each platform is sent."""

from __future__ import annotations

from html import unescape

import pytest

from tests.drawings.__main__ import sheet
from tests.drawings.situations import situations
from tests.drawings.wires import WIRES


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("name", situations())
def test_each_card_is_drawn_with_its_buttons(name: str, wire: str) -> None:
    content = situations()[name]
    drawn = unescape(WIRES[wire](content))
    assert "class=unknown" not in drawn
    assert [button.label for button in content.buttons if f">{button.label}</span>" not in drawn] == []


def test_a_sheet_has_a_column_for_each_platform() -> None:
    page = sheet(situations())
    assert [page.count(f"<div class={wire}>") for wire in WIRES] == [len(situations())] * 3
