"""More files than fit on one reply: the model is told of each that is left out."""

from __future__ import annotations

import json
from typing import Any

from runtime.contract import Call, Content, ToolTurn
from tests.contract.runtime.stage import Stage, address
from tests.contract.runtime.strict import Planned
from tools.files.handing import send_file


async def test_the_eleventh_file_is_left_out_and_the_model_is_told(stage: Stage) -> None:
    folder = stage.workspaces.folder(address("r1"))
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(12):
        (folder / f"{number}.csv").write_text("a\n", encoding="utf-8")
    calls = tuple(Call(f"c{n}", "send_file", json.dumps({"path": f"{n}.csv"})) for n in range(12))
    tools: list[Any] = [send_file]
    process = await stage.process(model := Planned(calls, end="told"), tools)
    await process.say("send all")
    await process.answer_all()
    [row] = await stage.rows("SELECT content FROM deliveries WHERE kind = 'final'")
    shown = {file.path for file in Content.from_json(row[0]).files}
    told = [turn.text for turn in model.requests[-1].turns if isinstance(turn, ToolTurn)]
    left = {f"{n}.csv" for n in range(12)} - shown
    assert (len(shown), len(left)) == (10, 2)
    for path in left:
        [words] = [text for text in told if text.startswith(path)]
        assert f"[A reply has at most 10 files, and yours is full: {path} isn't attached." in words
    assert sum("isn't attached" in text for text in told) == 2
