"""What `signalbox doctor` finds of an account on a real homeserver."""

from __future__ import annotations

from dataclasses import replace

import pytest
from aiohttp import web

from bot.testing.serve import serving
from runtime.contract import Level
from signalbox_matrix.checks import checked
from signalbox_matrix.settings import MatrixSettings
from tests.contract.adapters.rigs.matrix import SHORT, MatrixRig

pytestmark = pytest.mark.soak


def settings(rig: MatrixRig) -> MatrixSettings:
    return MatrixSettings("mx", rig.url, rig.cast.bot.token, SHORT)


async def test_an_account_that_works_and_its_encrypted_room(rig: MatrixRig) -> None:
    found = {one.id: one for one in await checked(settings(rig))}
    assert {one.level for one in found.values()} == {Level.OK}
    assert rig.cast.bot.id in found["matrix.mx.token"].what
    content = {"algorithm": "m.megolm.v1.aes-sha2"}
    room = await rig.cast.ada.room(rig.cast.bot, name="Vault")
    await rig.cast.ada.state(room, "m.room.encryption", content)
    found = {one.id: one for one in await checked(settings(rig))}
    assert found["matrix.mx.encrypted"].level is Level.WARNING
    assert found["matrix.mx.encrypted"].what == "1 of its rooms is encrypted: Vault"


async def test_a_token_that_is_refused(rig: MatrixRig) -> None:
    [server, token] = await checked(replace(settings(rig), token="syt_wrong"))
    assert (server.level, token.level, token.id) == (Level.OK, Level.ERROR, "matrix.mx.token")
    assert "syt_wrong" not in token.what


@pytest.mark.parametrize("status", [200, 404])
async def test_a_website_names_the_homeserver_that_was_meant(rig: MatrixRig, status: int) -> None:
    async def page(request: web.Request) -> web.Response:
        if request.path == "/.well-known/matrix/client":
            return web.json_response({"m.homeserver": {"base_url": "https://matrix.example.org/"}})
        return web.Response(status=status, text="<html>Welcome</html>")

    app = web.Application()
    app.router.add_get("/{path:.*}", page)
    async with serving(app) as url:
        [server] = await checked(replace(settings(rig), homeserver=url))
    assert server.level is Level.ERROR
    assert server.fix == 'set homeserver = "https://matrix.example.org"'


async def test_a_homeserver_that_is_away(rig: MatrixRig) -> None:
    [server] = await checked(replace(settings(rig), homeserver="http://127.0.0.1:9"))
    assert (server.level, server.id) == (Level.ERROR, "matrix.mx.server")
