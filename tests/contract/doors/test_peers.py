"""A whole process asks an agent of another system: people approve it, answer its question, and its answer comes back."""

from __future__ import annotations

from pathlib import Path

import pytest
from yarl import URL

from tests.contract.doors.conftest import SETTINGS, Doors
from tests.fakes.peer import serving_peer
from tests.security.running import running

PEER = '[egress]\nallow = ["{at}"]\n[[a2a]]\nname = "billing"\nurl = "{url}"\ntoken = "sesame"\n'


@pytest.mark.parametrize("url", ["file"], indirect=True)
async def test_a_peer_that_asks_back_is_answered_by_a_person_and_given_the_task_once(url: str, tmp_path: Path) -> None:
    async with serving_peer(question="Of which year?") as peer:
        settings = SETTINGS.format(url=url) + PEER.format(at=URL(peer.url).authority, url=peer.url)
        async with running(tmp_path, settings) as house:
            doors = Doors(house)
            await doors.make("app", "operator")
            said = (await doors.say("app", "bills", "Ask the peer billing: What is open?")).body["id"]
            [asked] = (await doors.answered("app", said))["questions"]
            await house.api.decide(asked["id"], "approve")
            [asked] = (await doors.answered("app", said))["questions"]
            assert asked["text"] == "billing asks: Of which year?"
            path, answer = f"/api/v1/approvals/{asked['id']}", {"choice": "text", "reason": "2026"}
            assert (await doors.ask("app", "POST", path, answer)).status == 200  # it's a question for whoever asked
            told = await doors.answered("app", said)
        assert (told["state"], "Done: What is open?, 2026" in str(told)) == ("done", True)
        assert ([*peer.said.values()], peer.tokens) == (["What is open?", "2026"], {"Bearer sesame"})
