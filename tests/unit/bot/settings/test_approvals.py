"""Settings about questions: each fault names the setting and the fix, and all are told at once."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from bot.settings.settings import Settings, load
from bot.wiring.live_rules import policy_of
from runtime.contract import Effect
from runtime.errors import ConfigError
from runtime.policy.rules import Ask
from runtime.policy.terms import Terms

ASK = Ask("shell", Effect.DANGER, {"command": "git push"}, "main", "slack:work/C1", frozenset())


def read(folder: Path, text: str) -> Settings:
    file = folder / "signalbox.toml"
    file.write_text(text, encoding="utf-8")
    return load(file, environ={})


def faults(folder: Path, text: str) -> list[str]:
    with pytest.raises(ConfigError) as error:
        read(folder, text)
    return str(error.value).splitlines()


def test_a_question_waits_twelve_hours_in_its_room_and_with_those_who_decide(tmp_path: Path) -> None:
    settings = read(tmp_path, "")
    assert settings.approvals.expires == timedelta(hours=12)
    assert policy_of(settings).terms(ASK) == Terms()


def test_a_rule_says_otherwise_for_its_calls(tmp_path: Path) -> None:
    rule = (
        '[[policy]]\nname = "pushes"\ntool = "shell"\nresult = "ask"\nto = ["room"]\nquorum = 2\nfour_eyes = true\n'
        'approvers = ["operator"]\nexpires_hours = 2\nremind_hours = [1]\nreason_required = true\n'
    )
    assert policy_of(read(tmp_path, rule)).terms(ASK) == Terms(
        rule="pushes",
        to=("room",),
        quorum=2,
        four_eyes=True,
        approvers=("operator",),
        expires=timedelta(hours=2),
        remind=(timedelta(hours=1),),
        reason_required=True,
    )


def test_the_old_name_is_read_and_told_of(tmp_path: Path) -> None:
    settings = read(tmp_path, "[run]\napproval_hours = 3\n")
    assert settings.approvals.expires == timedelta(hours=3)
    assert settings.old_names == ("run.approval_hours",)


def test_the_old_name_beside_the_new_one_is_a_fault(tmp_path: Path) -> None:
    told = faults(tmp_path, "[run]\napproval_hours = 3\n[approvals]\nexpires_hours = 4\n")
    assert any("run.approval_hours" in line and "approvals.expires_hours" in line for line in told)


def test_everything_that_does_not_fit_together_is_told_at_once(tmp_path: Path) -> None:
    text = (
        "[approvals]\nexpires_hours = 2\nremind_hours = [1, 3]\nescalate_hours = 5\n"
        'to = ["room", "slack:nowhere/C1"]\nescalate_to = ["sms"]\n'
        '[[policy]]\nresult = "ask"\nquorum = 3\napprovers = ["slack:work/U1", "slack:work/U2"]\n'
    )
    told = "\n".join(faults(tmp_path, text))
    for named in ("approvals.remind_hours", "approvals.escalate_hours", "slack:nowhere", "quorum", "escalate_to"):
        assert named in told


def test_a_role_among_the_approvers_may_be_any_number_of_people(tmp_path: Path) -> None:
    settings = read(tmp_path, '[[policy]]\nresult = "ask"\nquorum = 3\napprovers = ["owner"]\n')
    assert settings.policy[0].quorum == 3


def test_a_place_that_is_none_and_an_empty_list_are_refused_in_plain_words(tmp_path: Path) -> None:
    told = faults(tmp_path, '[approvals]\nto = []\nescalate_to = ["dmm"]\n')
    assert [line.replace(str(tmp_path / "signalbox.toml"), "it") for line in told[1:]] == [
        "  approvals.to: got a list of 0 (from it); expected at least 1, or leave it out.",
        '  approvals.escalate_to[1]: got text "dmm" (from it); expected "room", "dm", or the address of a room, '
        'such as "slack:work/C1".',
    ]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('[access]\napprovers = ["slack:work/U1"]\n', "only 1 approver is named in access.approvers"),
        (
            '[access]\napprovers = ["slack:work/U1", "slack:work/U2"]\n',
            "only 2 approvers are named in access.approvers",
        ),
    ],
)
def test_a_quorum_above_the_approvers_of_all_rules_says_where_they_are(tmp_path: Path, text: str, told: str) -> None:
    assert any(told in line for line in faults(tmp_path, f'{text}[[policy]]\nresult = "ask"\nquorum = 3\n'))
