"""`[auth]`: faults that would let in too many or nobody, and doctor's look at the provider."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest
from aiohttp import web

from bot.doctor.keys.auth import check_auth
from bot.doctor.subject import Subject
from bot.plugins.channels import RESERVED
from bot.settings.settings import Settings
from bot.testing.serve import serving
from runtime.contract import Level
from runtime.domain.programs.token import API_PREFIXES
from runtime.errors import ConfigError
from tests.fakes.openid import FakeOpenId, openid
from tests.unit.bot.auth.stage import ROLES, auth_of, settings_of

ISSUER: Final = 'issuer = "https://id.example.com"\n'
BEGIN: Final = f'[auth]\n{ISSUER}client_id = "signalbox"\n'
USERS: Final = '[auth.roles]\nuser = ["staff"]\n'


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (f"[auth]\n{ISSUER}{USERS}", "auth.client_id: is missing"),
        (f'[auth]\nissuer = "http://id.example.com"\nclient_id = "x"\n{USERS}', "auth.issuer: "),
        (BEGIN, "auth.roles: gives nobody a role"),
        (f'{BEGIN}url = "https://a.example.com"\n{USERS}', "auth.url: is set, and auth.issuer too"),
        (f'[auth]\nurl = "http://a.example.com"\n{USERS}', "auth.url: "),
        (f'[auth]\nurl = "https://a.example.com"\naudience = "x"\n{USERS}', "auth.audience: is set, and auth.issuer"),
        (f'{BEGIN}scopes = ["profile"]\n{USERS}', 'auth.scopes: has no "openid"'),
        (f'{BEGIN}groups_from = "id_token"\n{USERS}', 'auth.scopes: has no "offline_access"'),
        (f'{BEGIN}user_header = "a b"\n{USERS}', "auth.user_header: "),
        (f'{BEGIN}[auth.roles]\nowner = ["ops"]\n', "owners_by_group isn't true"),
        (f'{BEGIN}owners_by_group = true\n[auth.roles]\nowner = ["*"]\n', "would make everybody an owner"),
        (f'{BEGIN}[auth.roles]\noperator = ["*"]\n', "would make everybody an operator"),
        (f'{BEGIN}[auth.roles]\nuser = ["ops"]\noperator = ["ops"]\n', "as another role does"),
        (f'{BEGIN}[auth.roles]\nadmin = ["ops"]\n', "auth.roles.admin"),
    ],
)
def test_settings_that_would_let_in_too_many_or_nobody_are_refused(text: str, fault: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        settings_of(tmp_path, text)
    assert fault in str(caught.value)


def test_without_a_table_nobody_signs_in_at_a_provider(tmp_path: Path) -> None:
    assert not settings_of(tmp_path, "").auth.is_on


async def told(settings: Settings) -> list[tuple[Level, str]]:
    return [(one.level, one.what) for one in await check_auth(Subject(settings, None, None, None))]


async def test_doctor_tells_what_the_provider_must_know_and_what_is_wrong_with_it(tmp_path: Path) -> None:
    async with openid(FakeOpenId()) as at:
        settings = settings_of(tmp_path, f'[web]\npublic_url = "https://box.example.com"\n{auth_of(at)}')
        words = "Fake ID answers; it must send browsers back to https://box.example.com/sign-in/back."
        assert await told(settings) == [(Level.OK, f"{words} operator: ops; user: staff; viewer: guests")]
        at.named = "https://evil.example"
        ((level, what),) = await told(settings)
        assert (level, "evil.example, so it isn't trusted" in what) == (Level.ERROR, True)
        at.away = True
        assert await told(settings) == [(Level.ERROR, f"{at.url}: it answered 503")]
    assert await told(settings_of(tmp_path, "")) == []


@pytest.mark.parametrize(
    ("status", "user", "level"),
    [(401, "", Level.OK), (302, "", Level.OK), (200, "somebody", Level.ERROR), (500, "", Level.ERROR)],
)
async def test_doctor_asks_a_forward_auth_address_as_a_stranger(
    status: int, user: str, level: Level, tmp_path: Path
) -> None:
    async def verify(_: web.Request) -> web.Response:
        return web.Response(status=status, headers={"Remote-User": user} if user else {})

    app = web.Application()
    app.add_routes([web.get("/", verify)])
    async with serving(app) as url:
        ((found, _),) = await told(settings_of(tmp_path, f'[auth]\nurl = "{url}/"\n{ROLES}'))
    assert found is level


def test_no_package_brings_people_as_whom_programs_or_a_provider_speak() -> None:
    assert {prefix.rstrip(":") for prefix in API_PREFIXES} < RESERVED
