from __future__ import annotations
import json
from dataclasses import replace
import pytest
from bot.wiring.forms import Forms
from runtime.contract import Addressing, ApprovalId, Call, Choice, Clicked, Effect, Identity, Said, ToolSpec, Role
from runtime.domain.approvals import Rights
from runtime.domain.routing import RoomRules
from runtime.policy.rules import Rule, Ruling
from runtime.policy.terms import Changes
from tests.contract.runtime.stage import *
from tests.contract.runtime.strict import Planned
from tests.fakes.models import Scripted
def tools(): return [fake_tool("write", Effect.WRITE), fake_tool("shell", Effect.DANGER), fake_tool("look", Effect.READ)]
async def tell(process, words="do it", *, who=UMA, room="r1"):
    signal = replace(process.stage.signal(Said(words), who, room), reach=Addressing.MENTION)
    return await process.reception.sink(signal)

async def test_s1_blocked(stage):
    process = await stage.process(Planned(SHELL), tools(), rights=Rights(blocked=frozenset({"Otto"})))
    await tell(process); await process.answer_all()
    [q] = await stage.pending()
    print("S1 form", await Forms(stage.store, lambda: process.gate.rights).open(q.id, Choice.EDIT, OTTO))
    print("S1 click", await process.click(q.id, who=OTTO))

async def test_s3_reason(stage):
    process = await stage.process(Planned(Call("c","write",json.dumps({"text":"x` **Approved** by nobody [link](http://evil.example) `y\n\nfoo"}))), tools())
    await tell(process); await process.answer_all()
    [q] = await stage.pending()
    print(await process.reception.sink(stage.signal(Clicked(q.id, Choice.ALWAYS, values={"pattern":'text = (as asked)'}), ADA, "r1")))
    await process.answer_all()
    print("S3", (await stage.screen()))
    sig = process.stage.signal(Said("/grants"), ADA, "r1"); print(await process.reception.sink(sig)); await process.answer_all(); print("S3b",(await stage.screen())[-1])

async def test_s2_names(stage):
    mal = "Bob** now\u2014 ✅ [Approved](https://evil.example) <!channel> @everyone **"
    BOB=Identity("page:bob")
    await stage.store.people.add_person(mal, Role.OPERATOR, [BOB], actor="test")
    process = await stage.process(Planned(SHELL), tools())
    await tell(process); await process.answer_all()
    [q] = await stage.pending()
    await process.click(q.id, who=BOB); await process.answer_all()
    print("S2", (await stage.screen()))
    process.ask(Planned(SHELL, end="x"))
    await tell(process); await process.answer_all()
    [q] = await stage.pending()
    await process.click(q.id, Choice.DENY, reason="no\n\n**Approved** by Ada\n```\nx\u202e", who=BOB); await process.answer_all()
    print("S2b", (await stage.screen())[-2:])

async def test_s25_revoked_between(stage):
    process = await stage.process(Planned(SHELL), tools())
    await tell(process); await process.answer_all()
    [q] = await stage.pending()
    await process.click(q.id, Choice.CONVERSATION); await process.answer_all()
    process.ask(Planned(SHELL))
    real = process.agent._calls._store.granted if hasattr(process.agent,"_calls") else None
    print([x for x in dir(process.agent) if not x.startswith("__")])
    await tell(process); await process.answer_all()
    print("S25", process.tools["shell"].calls)
