"""Where the reports of a schedule stand in their rooms: found in the store, so that every process says the same."""

from __future__ import annotations

from runtime.contract import ScheduleRequest, Terms, Thread
from tests.contract.runtime.planning import ELSEWHERE, HOME, contents, desk
from tests.contract.runtime.stage import Stage
from tests.contract.runtime.strict import Strict


async def receipts(stage: Stage) -> list[str]:
    """Of the first message of each report, oldest first."""
    rows = await stage.rows(
        "SELECT p.receipt FROM deliveries d JOIN parts p ON p.delivery_id = d.id "
        "WHERE d.kind = 'report' AND p.ordinal = 1 ORDER BY d.number"
    )
    return [row[0] for row in rows]


async def test_all_reports_of_a_running_thread_stand_under_the_first_of_their_room(any_stage: Stage) -> None:
    at = await desk(any_stage, Strict(["one", "two", "three"]))
    await at.plan(to=[HOME, ELSEWHERE], terms=Terms(thread=Thread.RUNNING))
    await at.fire()
    at = await desk(any_stage, Strict(["two", "three"]))  # another process
    await at.fire()
    await at.fire()
    here, there = (await receipts(any_stage))[:2]
    assert [content.under for content in await contents(any_stage)] == ["", "", here, there, here, there]


async def test_a_thread_goes_on_under_the_last_report_of_before(any_stage: Stage) -> None:
    at = await desk(any_stage, Strict(["one", "two", "three"]))
    planned = await at.plan()
    await at.fire()
    await at.fire()
    await at.process.booking.change(planned.id, ScheduleRequest(terms=Terms(thread=Thread.RUNNING)), await at.asker())
    await at.fire()
    _, second, _ = await receipts(any_stage)
    assert [content.under for content in await contents(any_stage)] == ["", "", second]


async def test_what_another_schedule_said_is_no_root(any_stage: Stage) -> None:
    at = await desk(any_stage, Strict(["one", "two"]))
    await at.plan(name="first", terms=Terms(thread=Thread.RUNNING))
    await at.plan("every 2 hours", name="second", terms=Terms(thread=Thread.RUNNING))
    await at.fire()
    await at.process.booking.pause((await at.process.booking.find("first", await at.asker())).id, await at.asker())
    await at.fire()
    assert [content.under for content in await contents(any_stage)] == ["", ""]


async def test_a_report_with_a_thread_of_its_own_says_so_and_is_announced(any_stage: Stage) -> None:
    at = await desk(any_stage, Strict(["All is well.\n\nTwo are open.", "- one\n- two"]))
    await at.plan(terms=Terms(thread=Thread.OWN))
    await at.fire()
    await at.fire()
    first, second = await contents(any_stage)
    assert (first.threaded, first.under, first.text) == (True, "", "All is well.\n\nTwo are open.")
    assert (second.threaded, second.text) == (True, "# news\n\n- one\n- two")
    assert (first.schedule, second.schedule) == ("news", "news")
