"""`[[hooks]]`: what is taken, what is refused with its fix, and what becomes of it."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from adapters.web.rooms import ROOM_NAME
from adapters.webhook.settings import Hook, Proof
from bot.accounts.naming import Accounts, Called
from bot.doctor.examine import CHECKS
from bot.doctor.subject import Subject
from bot.server.reload import differences
from bot.settings.faults import MASK
from bot.settings.hooks import PAGE_ROOM
from bot.settings.secrets import asked_for
from bot.settings.settings import Settings
from bot.wiring.access import gate_of
from bot.wiring.hooks import actor_of, hook_of
from runtime.contract import Urgency
from tests.unit.bot.settings.test_settings import faults, read

SECRET = "0123456789abcdef"
LEAST = f'[[hooks]]\nname = "deploys"\nto = "web:main/ops001"\nsecret = "{SECRET}"\n'
SLACK = (
    '[[accounts]]\nname = "work"\nchannel = "slack"\nbot_token = "xoxb-1111-2222-abcdefABCDEF"\n'
    'app_token = "xapp-1-A111-2222-abcdef"\n'
)


def hook(folder: Path, more: str = "", **variables: str) -> Hook:
    settings: Settings = read(folder, LEAST + more, **variables)
    return hook_of(settings.hooks[0])


def test_three_lines_are_a_hook(tmp_path: Path) -> None:
    assert hook(tmp_path) == Hook("deploys", "web:main/ops001", Proof("token", SECRET))


def test_a_signed_hook_is_as_github_signs(tmp_path: Path) -> None:
    found = hook(tmp_path, 'verify = "hmac"')
    assert found.proof == Proof("hmac", SECRET, "X-Hub-Signature-256", "sha256=", "{body}")


def test_with_a_timestamp_it_is_signed_too(tmp_path: Path) -> None:
    found = hook(tmp_path, 'verify = "hmac"\nheader = "S"\nprefix = ""\ntimestamp_header = "T"\ntolerance_seconds = 60')
    assert found.proof == Proof("hmac", SECRET, "S", "", "{timestamp}.{body}", "T", "", timedelta(minutes=1))


def test_all_the_rest(tmp_path: Path) -> None:
    found = hook(
        tmp_path,
        'prompt = "p"\nurgency = "low"\ndedupe_header = "X-Id"\ndedupe_seconds = 0\nheaders = ["X-Event"]\n'
        'fields = ["a.b"]\nper_minute = 0\nperson = "slack:work/U1"\n',
    )
    assert (found.prompt, found.urgency, found.person) == ("p", Urgency.LOW, "slack:work/U1")
    assert (found.dedupe_header, found.dedupe_within, found.per_minute) == ("X-Id", timedelta(), 0)
    assert (found.headers, found.fields) == (("X-Event",), ("a.b",))


def test_the_secret_may_be_in_a_variable_and_is_never_shown(tmp_path: Path) -> None:
    settings = read(tmp_path, LEAST.replace("secret", "secret_env").replace(SECRET, "MINE"), MINE=SECRET)
    assert hook_of(settings.hooks[0]).proof.secret == SECRET
    assert settings.source("hooks[1].secret") == "MINE"
    assert settings.secret_values() == [SECRET]
    assert settings.shown()["hooks"][0]["secret"] == MASK
    assert SECRET not in repr(settings)
    assert asked_for(settings) == {"MINE": ["hooks[1].secret"]}


def test_a_hook_is_allowed_by_being_there_also_in_a_room_for_some(tmp_path: Path) -> None:
    room = '[[rooms]]\naddress = "web:*"\npeople = ["Ada"]\n[[rooms]]\naddress = "x:*"\n'
    rooms = gate_of(read(tmp_path, f"{LEAST}{room}")).rooms
    assert rooms.sources == {"hook:deploys"}
    assert [sorted(rule.people) for rule in rooms.rules] == [["Ada", "hook:deploys"], []]
    as_person = gate_of(read(tmp_path, f'{LEAST}person = "telegram:1"\n{room}')).rooms
    assert (sorted(as_person.sources), sorted(as_person.rules[0].people)) == ([], ["Ada"])


def test_the_account_in_a_persons_identity_is_translated_once_it_is_known() -> None:
    one = Hook("deploys", "slack:work/C1", Proof("token", SECRET), person="slack:work/U1")
    assert actor_of(one, Accounts([Called("slack", "work", "")])) is None
    assert actor_of(one, Accounts([Called("slack", "work", "T1")])) == "slack:T1/U1"
    assert actor_of(Hook("deploys", "slack:work/C1", Proof("token", SECRET)), Accounts()) == "hook:deploys"


def test_a_change_takes_a_restart_and_says_so(tmp_path: Path) -> None:
    before, after = read(tmp_path, LEAST), read(tmp_path, f'{LEAST}prompt = "new"\n')
    assert list(differences(before, after)) == ["hooks"]


def test_a_process_for_one_question_has_none(tmp_path: Path) -> None:
    assert read(tmp_path, LEAST).for_one_question().hooks == ()


def test_a_room_of_the_page_is_one_that_the_page_can_open() -> None:
    assert PAGE_ROOM == ROOM_NAME


async def test_doctor_lists_them(tmp_path: Path) -> None:
    settings = read(tmp_path, f"[web]\nport = 8111\n{LEAST}")
    [found] = await CHECKS["hooks"](Subject(settings, None, None, None))
    assert found.id == "hooks.deploys"
    assert found.what == "POST http://127.0.0.1:8111/hooks/deploys with a token goes to web:main/ops001 (normal)"


# ------------------------------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            f'{LEAST}verify = "hmac"\nsigned = "{{body}}"\ntimestamp_header = "T"\n',
            "{timestamp} in it: an unsigned time proves nothing",
        ),
        (LEAST.replace(SECRET, "short"), 'hooks[1].secret ("deploys"): got text of 5 characters'),
        (LEAST.replace(f'secret = "{SECRET}"', ""), "is missing; set secret_env"),
        (LEAST.replace("secret", "secret_env"), f"the variable {SECRET} is not set"),
        (LEAST.replace('name = "deploys"', ""), "hooks[1].name: is missing"),
        (LEAST.replace("deploys", "De ploys"), "lowercase letters, digits and dashes"),
        (LEAST.replace("web:main/ops001", "ops"), "write channel:account/room"),
        (LEAST.replace("ops001", "7"), "a room of the page with 6 to 32 lowercase letters and digits"),
        (LEAST.replace("web:main", "slack:work"), "there is no account slack:work; add it under [[accounts]]"),
        (LEAST.replace("web:main", "web:mian"), "there is no account web:mian; did you mean web:main?"),
        (SLACK + LEAST.replace("web:main", "slack:wrok"), "did you mean slack:work?"),
        (SLACK + "enabled = false\n" + LEAST.replace("web:main", "slack:work"), "slack:work is not enabled"),
        (LEAST + LEAST.replace(SECRET, SECRET[::-1]), "hooks[1] has this name too; give each hook its own"),
        (LEAST + LEAST.replace("deploys", "alerts"), "hold the same value"),
        (f'{LEAST}verify = "basic"', 'expected "token" or "hmac"'),
        (f'{LEAST}header = "X Y"', "the name of a header"),
        (f'{LEAST}headers = ["X:Y"]', "the name of a header"),
        (f'{LEAST}signed = "{{timestamp}}"', "text with {body} in it"),
        (f'{LEAST}signed = "{{nonce}}.{{body}}"', "text with {body} in it"),
        (f'{LEAST}signed = "{{timestamp}}.{{body}}"', "timestamp_header beside it"),
        (f'{LEAST}signed = "{{id}}.{{body}}"', "dedupe_header beside it"),
        (f'{LEAST}urgency = "urgent"', '"critical"'),
        (f'{LEAST}person = "Ada"', "an identity such as"),
        (f"{LEAST}per_minute = -1", "at least 0"),
        (f"{LEAST}tolerance_seconds = 0", "more than 0"),
        (f'{LEAST}sercet = "x"', "did you mean hooks[1].secret?"),
        (LEAST.replace("[[hooks]]", "[hooks]"), "write [[hooks]] with two brackets"),
    ],
)
def test_a_slip_is_told_with_its_fix_and_no_secret(tmp_path: Path, text: str, words: str) -> None:
    told = faults(tmp_path, text)
    assert words in told
    assert f'"{SECRET}"' not in told
