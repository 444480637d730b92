"""Interactions at the platform: each answered once, best effort, since a press is stored before it is answered."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any, Final

import aiohttp
import discord
from discord.http import Route

from adapters.discord.errors import ALREADY_ACKNOWLEDGED, UNKNOWN_INTERACTION, ours, told
from adapters.discord.http import Http
from adapters.discord.interactions import Answer, commands, is_registered
from runtime.errors import ChannelError, Rejected

log = logging.getLogger(__name__)

ANSWER_TRIES: Final = 2


class InteractionResponses:
    """Answers interactions, and tells Discord which commands there are."""

    def __init__(self, account: str, http: Http) -> None:
        self._account = account
        self._http = http
        self._registered = False

    async def answer(self, interaction: Mapping[str, Any], answer: Answer) -> None:
        """At most once on screen: a second answer is refused as a repeat, so a lost one is simply given again."""
        path = "/interactions/{interaction}/{webhook_token}/callback"
        route = Route("POST", path, interaction=str(interaction["id"]), webhook_token=str(interaction["token"]))
        for _ in range(ANSWER_TRIES):
            try:
                await self._http.request(route, json=dict(answer))
            except discord.HTTPException as error:
                if error.status < 500:
                    self._unanswered(error)
                    return
            except (discord.RateLimited, aiohttp.ClientError, OSError) as error:
                log.info("an interaction may not be answered: %s", told(error))
            else:
                return

    async def follow_up(self, interaction: Mapping[str, Any], bodies: Sequence[Mapping[str, Any]]) -> None:
        """Further messages that one person sees, each tried once: there is no key by which a repeat would be none."""
        path = "/webhooks/{webhook_id}/{webhook_token}"
        ids = {"webhook_id": str(interaction["application_id"]), "webhook_token": str(interaction["token"])}
        try:
            for body in bodies:
                await self._http.request(Route("POST", path, **ids), json=dict(body))
        except (discord.HTTPException, discord.RateLimited, aiohttp.ClientError, OSError) as error:
            log.info("cards for one person are not shown: %s", told(error))

    def _unanswered(self, error: discord.HTTPException) -> None:
        match error.code:
            case code if code == ALREADY_ACKNOWLEDGED:
                return  # the answer was lost, not what it answered
            case code if code == UNKNOWN_INTERACTION:
                log.info("an interaction was answered too late; what it asked for counts")
            case _:
                log.warning("an interaction was not answered: %s", told(error))

    async def register(self, application: str) -> None:
        """Make the application's commands ours, unless they are. Best effort: words work too."""
        if self._registered:
            return
        try:
            await self._put(application)
            self._registered = True
        except ChannelError as error:
            level = logging.WARNING if isinstance(error, Rejected) else logging.INFO
            log.log(level, "the commands are not registered at Discord: %s", error)

    async def _put(self, application: str) -> None:
        """Errors: Retryable, Rejected."""
        wanted, path = commands(), "/applications/{application}/commands"
        try:
            there = await self._http.request(Route("GET", path, application=application))
            if not is_registered(wanted, there):
                await self._http.request(Route("PUT", path, application=application), json=wanted)
        except Exception as error:
            raise ours(error, self._account, reads=True) from error
