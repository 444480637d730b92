"""A reload takes over all of what may change, or, after a fault, nothing; the rest it names."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from operator import attrgetter
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from bot.server.reload import MAY_CHANGE, Reload, Reloaded, merged, sinks_to_come
from bot.settings.settings import Settings, load
from bot.wiring.live_rules import Live, rules_of
from bot.wiring.owner import settle_owner
from runtime.context.prompt.here import Here
from runtime.contract import Address, Busy, Effect, Identity, NodeId, Role
from runtime.domain.routing import Attention
from runtime.errors import ConfigError, StoreError
from runtime.policy.rules import Ask, Ruling
from runtime.store.store import Store
from tests.contract.runtime.stores import memory_store

FIRST = '[access]\nowners = ["telegram:1"]\n'
NODE = (NodeId("n1"), "", timedelta(hours=1))
SHELL = Ask("shell", Effect.DANGER, {}, "main", "web:main/r", frozenset())


@dataclass
class Place:
    """A settings file, and a process that has read it."""

    file: Path
    store: Store
    live: Live
    reload: Reload
    levels: list[str] = field(default_factory=list)

    def write(self, text: str) -> None:
        self.file.write_text(text)

    async def again(self, text: str) -> Reloaded:
        self.write(text)
        return await self.reload("ada")


async def moved_in(folder: Path, text: str = FIRST, **variables: str) -> Place:
    file = folder / "signalbox.toml"
    file.write_text(text)
    settings = load(file, environ=variables)
    store, levels = memory_store(lambda: datetime.now(UTC)), list[str]()
    await settle_owner(store.people, settings.access.owners, None, with_link=False)
    live = Live(rules_of(settings))
    again = Reload(settings=settings, live=live, people=store.people, registry=store.cluster, set_level=levels.append)
    return Place(file, store, live, again, levels)


@pytest.fixture
async def place(tmp_path: Path) -> Place:
    return await moved_in(tmp_path)


async def test_the_rules_about_calls_count_from_then_on(place: Place) -> None:
    assert place.live.rules.policy.ruling(SHELL) is Ruling.ASK
    told = await place.again(FIRST + '[[policy]]\ntool = "shell"\nresult = "deny"\n')
    assert place.live.rules.policy.ruling(SHELL) is Ruling.DENY
    assert told == Reloaded(("policy (1 rule)",), (), ())


async def test_who_may_approve_and_come_in_counts_from_then_on(place: Place) -> None:
    told = await place.again(FIRST + 'default = "allow"\napprovers = ["telegram:7"]\nself_approval = false\n')
    gate = place.live.rules.gate
    assert (gate.open_to_all, gate.rights.approvers, gate.rights.self_approval) == (
        True,
        frozenset({"telegram:7"}),
        False,
    )
    assert told.changed == ("access.default", "access.approvers", "access.self_approval")


async def test_rooms_and_whom_to_answer_there_count_from_then_on(place: Place) -> None:
    there = Address("telegram", "tg", "-100")
    rules = '[[rooms]]\naddress = "telegram:tg/*"\nattention = "open"\nbusy = "collect"\n'
    told = await place.again(FIRST + 'rooms = "strict"\nblocked = ["Bob"]\nbots = ["telegram:9"]\n' + rules)
    gate = place.live.rules.gate
    assert told.changed == ("access.rooms", "access.blocked", "access.bots", "rooms")
    assert (gate.rooms.default, gate.rooms.blocked, gate.rooms.bots) == (
        Attention.STRICT,
        frozenset({"Bob"}),
        frozenset({"telegram:9"}),
    )
    assert (gate.rooms.rule(there).attention, place.live.busy_rules().at(there)) == (Attention.OPEN, Busy.COLLECT)


async def test_a_new_owner_is_one_and_one_taken_out_is_told(place: Place) -> None:
    told = await place.again('[access]\nowners = ["telegram:2"]\n')
    known = {one.person.name: one.person.role for one in await place.store.people.people()}
    assert known == {"owner": Role.OWNER, "telegram:2": Role.OWNER}
    assert told.notes == ('"owner" is still an owner; to change that: signalbox people role "owner" user',)


async def test_the_prompt_counts_from_then_on_and_so_does_its_text(place: Place) -> None:
    prompt = place.file.with_name("prompt.md")
    prompt.write_text("Be brief.")
    settings = FIRST + '[run]\nprompt_file = "prompt.md"\n'
    assert (await place.again(settings)).changed == ("run.prompt_file",)
    assert place.live.rules.prompts.own.text == "Be brief."
    prompt.write_text("Be long.")
    assert (await place.reload("ada")).changed == ("the text of run.prompt_file",)
    assert place.live.rules.prompts.own.text == "Be long."


async def test_what_rooms_are_told_counts_from_then_on_and_a_faulty_prompt_changes_nothing(place: Place) -> None:
    here = Here(Address("telegram", "tg", "-100"), datetime(2026, 3, 1, tzinfo=UTC))
    prompt = place.file.with_name("room.md")
    prompt.write_text("You cook in {{ channel }}.")
    settings = FIRST + '[[rooms]]\naddress = "telegram:tg/*"\nprompt_file = "room.md"\n'
    assert (await place.again(settings)).changed == ("rooms",)
    assert "\n\nYou cook in telegram.\n\n" in place.live.prompt(here).system
    assert "You cook" not in place.live.prompt(replace(here, address=Address("web", "main", "r1"))).system
    prompt.write_text("You bake.")
    assert (await place.reload("ada")).changed == ("the text of a prompt_file of rooms",)
    assert "\n\nYou bake.\n\n" in place.live.prompt(here).system
    prompt.write_text("You {{ fry }}.")
    with (
        capture_logs(),
        pytest.raises(ConfigError, match=r"rooms\[1\]\.prompt_file.*room\.md, line 1: there is no fry"),
    ):
        await place.reload("ada")
    assert "\n\nYou bake.\n\n" in place.live.prompt(here).system


async def test_the_log_level_is_set_once_it_differs(place: Place) -> None:
    told = await place.again(FIRST + '[log]\nlevel = "debug"\n')
    await place.reload("ada")
    assert told.changed == ("log.level (info to debug)",)
    assert place.levels == ["debug"]


async def test_what_needs_a_restart_is_named_until_there_was_one(place: Place) -> None:
    settings = FIRST + '[web]\nport = 1234\n[model]\nname = "ollama/x"\n[log]\nformat = "json"\n'
    for _ in range(2):
        told = await place.again(settings)
        assert told == Reloaded((), ("web.port", "model.name", "log.format"), ())


async def test_the_rest_of_a_table_that_may_change_does_not_slip_in(place: Place) -> None:
    """The gate holds a copy of `sessions.busy`; taken over alone, half of the process would go by it."""
    told = await place.again(FIRST + 'approvers = ["telegram:7"]\n[sessions]\nbusy = "followup"\n')
    assert place.live.rules.gate.busy is Busy.STEER
    assert told.restart == ("sessions.busy",)


def test_what_may_change_is_in_the_manual_and_is_a_setting(place: Place) -> None:
    told = (Path(__file__).parents[4] / "docs" / "operations.md").read_text(encoding="utf-8")
    named = told.partition("These change at once:")[2].partition("Everything else")[0]
    assert sorted(set(re.findall(r"`([\w.]+)`", named))) == sorted(MAY_CHANGE)
    attrgetter(*MAY_CHANGE)(place.reload.settings)  # raises for what is no setting


async def test_nothing_changed_is_told_and_is_no_fact(place: Place) -> None:
    assert await place.again(FIRST) == Reloaded((), (), ())
    assert await facts(place.store) == []


async def test_a_reload_that_changed_something_is_a_fact(place: Place) -> None:
    await place.again(FIRST + '[[policy]]\nresult = "deny"\n')
    assert await facts(place.store) == [("ada", "policy (1 rule)")]


async def facts(store: Store) -> list[tuple[str, str]]:
    head = await store.audit.audit_head()
    duty = await store.cluster.take(await store.cluster.join(*NODE, alone=True), "sealer")
    assert duty is not None
    await store.audit.seal(duty, head)
    return [(row.actor, row.detail) for row in await store.audit.audit_rows(0) if row.kind == "reloaded"]


async def test_after_a_fault_nothing_has_changed_and_all_faults_are_told(place: Place) -> None:
    before = place.live.rules
    with capture_logs() as logs, pytest.raises(ConfigError) as raised:
        await place.again('[access]\nowners = ["nobody"]\n[log]\nlevel = "loud"\n[[policy]]\nresult = "deny"\n')
    assert "access.owners" in str(raised.value)
    assert "log.level" in str(raised.value)
    assert place.live.rules is before
    assert place.levels == []
    assert [entry["event"] for entry in logs] == ["the settings are not reloaded"]


async def test_a_file_that_is_no_toml_changes_nothing(place: Place) -> None:
    before = place.live.rules
    with capture_logs(), pytest.raises(ConfigError, match=r"signalbox\.toml:1"):
        await place.again("[access\n")
    assert place.live.rules is before


async def test_a_prompt_that_is_gone_changes_nothing(place: Place) -> None:
    before = place.live.rules
    with capture_logs(), pytest.raises(ConfigError, match=r"run\.prompt_file"):
        await place.again('[run]\nprompt_file = "missing.md"\n[[policy]]\nresult = "deny"\n')
    assert place.live.rules is before


async def test_a_store_that_is_away_changes_nothing(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    async def away(kind: str, by: str, subject: str, detail: str) -> None:
        raise StoreError("The database is away.")

    before = place.live.rules
    monkeypatch.setattr(place.store.cluster, "note_fact", away)
    with capture_logs(), pytest.raises(StoreError):
        await place.again('[[policy]]\nresult = "deny"\n[log]\nlevel = "debug"\n')
    assert place.live.rules is before
    monkeypatch.undo()
    assert len((await place.reload("ada")).changed) == 3  # as if it had not been tried: policy, owners, level
    assert place.levels == ["debug"]


async def test_a_token_in_the_file_is_compared_and_never_shown(place: Place) -> None:
    told = await place.again(FIRST + '[web]\ntoken = "sesame-open-the-door"\n')
    assert told.restart == ("web.token",)
    assert "sesame" not in repr(told)


async def test_a_secret_from_elsewhere_counts_as_the_same(tmp_path: Path) -> None:
    place = await moved_in(tmp_path, FIRST + '[web]\ntoken_env = "MY_TOKEN"\n', MY_TOKEN="sesame-open-the-door")
    assert (await place.reload("ada")).restart == ()


async def test_owners_stay_known_by_their_identity(place: Place) -> None:
    await place.again('[access]\nowners = ["telegram:1", "telegram:2"]\n')
    found = await place.store.people.identified(Identity("telegram:2"))
    assert found is not None
    assert found.role is Role.OWNER


async def test_agents_are_taken_over_by_the_next_run(place: Place) -> None:
    folder = place.file.parent / "agents"
    folder.mkdir()
    made: list[list[str]] = []
    place.live.renews(lambda manifests: made.append([one.prompt for one in manifests.values()]))
    (folder / "ops.toml").write_text('prompt = "First."\n')
    told = await place.again(FIRST)
    assert told == Reloaded(("the agent ops (new)",), (), ())
    (folder / "ops.toml").write_text('prompt = "Second."\n')
    assert (await place.again(FIRST)).changed == ("the agent ops",)
    here = Here(Address("web", "main", "r"), datetime.now(UTC), agent="ops")
    assert place.live.prompt_of("ops")(here).system.startswith("Second.")
    (folder / "ops.toml").unlink()
    assert (await place.again(FIRST)).changed == ("the agent ops (removed)",)
    assert made == [["", "First."], ["", "Second."], [""]]


async def test_each_agent_is_said_to_be_of_its_own_file(place: Place) -> None:
    folder = place.file.parent / "agents"
    folder.mkdir()
    for name in ("ops", "main"):  # which comes before the one that was there
        (folder / f"{name}.toml").write_text('prompt = "First."\n' if name == "ops" else 'effects = "write"\n')
        await place.again(FIRST)
    settings = place.reload.settings
    found = {table.name: settings.source(f"agents[{number}]") for number, table in enumerate(settings.agents, start=1)}
    assert found == {name: str(folder / f"{name}.toml") for name in ("main", "ops")}
    assert settings.source("model.name") == "default"


async def test_a_faulty_file_of_an_agent_keeps_what_held(place: Place) -> None:
    folder = place.file.parent / "agents"
    folder.mkdir()
    (folder / "ops.toml").write_text('prompt = "First."\n')
    await place.again(FIRST)
    (folder / "ops.toml").write_text('prompt = "Second."\ntools = ["nothing_such"]\n')
    with pytest.raises(ConfigError, match='"nothing_such" fits no tool'):
        await place.again(FIRST)
    assert place.live.rules.agents["ops"].prompt == "First."


async def test_an_agent_whose_model_is_new_is_told_to_need_a_restart(place: Place) -> None:
    model = '[model]\nname = "openai/gpt-4o"\napi_key = "k"\n'
    place = await moved_in(place.file.parent, model + FIRST)
    more = '[[models]]\nname = "small"\nmodel = "openai/gpt-4o-mini"\napi_key = "k"\n'
    told = await place.again(f'{model}{FIRST}{more}[[agents]]\nname = "ops"\nprompt = "p"\nmodel = "small"\n')
    assert told.notes == ("the agent ops uses the usual model until a restart, since small is new",)
    assert "models" in told.restart


SINK = '[[event_sinks]]\nname = "{name}"\nurl = "https://siem.example.org/in"\n'
SEALED_SINK = SINK + 'secret_env = "{name}_SECRET"\n'


async def test_budgets_and_the_operators_room_count_from_then_on(place: Place) -> None:
    text = '[budgets]\nday = 5\nunpriced = "refuse"\nover = "cheapest"\n[operators]\nroom = "web:main/alarms"\n'
    models = '[model]\nname = "openai/a"\n[[models]]\nname = "small"\nmodel = "openai/b"\n'
    told = await place.again(FIRST + text + models)
    assert told.changed == ("budgets.day", "operators.room")
    assert {"budgets.unpriced", "budgets.over"} <= set(told.restart), (
        "no cheaper model is there yet: nothing would stop"
    )
    budgets = place.reload.settings.budgets
    assert (budgets.day, budgets.over, budgets.unpriced) == (5, "stop", "warn")
    assert place.live.rules.destinations == {"web:main/alarms"}


async def test_event_sinks_change_with_a_reload(tmp_path: Path) -> None:
    place = await moved_in(tmp_path, FIRST + SINK.format(name="one"))
    taken = list[Settings]()
    place.reload.taken = taken.append
    told = await place.again(FIRST + SINK.format(name="two"))
    assert told == Reloaded(("the event sink one (removed)", "the event sink two (new)"), (), ())
    assert [one.name for one in taken[0].event_sinks] == ["two"]


def test_a_sink_keeps_its_sealed_secret_and_one_whose_secret_is_not_at_hand_waits(tmp_path: Path) -> None:
    """A reload opens no sealed file."""
    file = tmp_path / "signalbox.toml"
    file.write_text(SEALED_SINK.format(name="kept"))
    old = load(file, environ={"kept_SECRET": "a secret of sixteen letters"})
    file.write_text(SEALED_SINK.format(name="kept") + SEALED_SINK.format(name="new"))
    fresh = load(file, environ={}, demand=())
    taken = merged(old, fresh)
    assert taken.event_sinks == old.event_sinks
    assert list(sinks_to_come(taken, fresh)) == ["the event sink new begins with a restart, since its secret is sealed"]
