"""A call that an approver changes before it runs: what the question is about, from then on."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import bindparam, delete, select, update

from runtime.chat.cards.listing import unlisted
from runtime.contract import ApprovalId, NewId
from runtime.domain.approvals import Approval, Rights, Voter, not_entitled
from runtime.domain.ids import digest
from runtime.store.approvals.decisions import BY_ID, MEANWHILE
from runtime.store.approvals.listed import single_out
from runtime.store.approvals.rulings import approval_of
from runtime.store.common import fact
from runtime.store.protocol import Asked, Changed
from runtime.store.runs.run_begin import requester_of
from runtime.store.schema import approvals, sessions, steps, votes
from runtime.store.sql.driver import Op, is_word

UNFILLED = "I need the changed call. Press Edit again, or use the console or the command line."
SET_CALL = (
    update(approvals)
    .where(approvals.c.id == bindparam("id_"), is_word(approvals.c.state, "pending"))
    .values(
        arguments=bindparam("runs"),
        arguments_hash=bindparam("hashed"),
        asked_arguments=bindparam("before"),
        policy_version=bindparam("version"),
        terms=bindparam("asked_on"),
        card=bindparam("shown"),
    )
)
SET_STEP_CALL = (
    update(steps)
    .where(steps.c.run_id == bindparam("run"), steps.c.number == bindparam("n"), is_word(steps.c.state, "asked"))
    .values(arguments=bindparam("runs"), arguments_hash=bindparam("hashed"))
)
DROP_VOTES = delete(votes).where(votes.c.approval_id == bindparam("id_"))
AGENT = select(sessions.c.agent).where(sessions.c.key == bindparam("k"))


def asked(approval_id: ApprovalId) -> Op[Asked | None]:
    """A question with the facts of its request that a policy asks for."""
    rows = yield BY_ID, {"id": approval_id}
    if not rows:
        return None
    about = approval_of(rows[0])
    agents = yield AGENT, {"k": about.session}
    _, names = yield from requester_of(about.requester)
    return Asked(about, agents[0][0] if agents else "", names)


@dataclass(frozen=True, slots=True)
class Edit:
    """The change that a form asks for. `changed` was looked at before the transaction; None where nothing was typed.

    A call of a list leaves it first, for a card of its own.
    """

    changed: Changed | None
    new_id: NewId

    def __call__(self, about: Approval, voter: Voter, rights: Rights, now: datetime) -> Op[Approval | str]:
        """The question about the changed call, which has no votes yet; or why nothing is changed."""
        changed = self.changed
        if changed is None or changed.fault:
            return changed.fault if changed else UNFILLED
        if changed.of_hash != about.arguments_hash:
            return MEANWHILE
        known = json.loads(unlisted(about.card) or "{}")
        known.pop("offers", None)  # they were for the call before: what a grant lets run must be the call that was read
        after = replace(
            about,
            arguments=changed.arguments,
            arguments_hash=digest(changed.arguments),
            asked_arguments=about.asked_arguments or about.arguments,
            policy_version=changed.policy_version,
            terms=changed.terms,
            card=json.dumps(known | {"edits": about.edits + 1}, ensure_ascii=False),
        )
        if against := not_entitled(after, voter, rights):
            return against
        if about.lead:
            yield from single_out(about, rights, now, self.new_id, ends=after.terms.quorum <= 1)
        yield from _record(about, after, voter, now)
        return after


def _record(before: Approval, after: Approval, voter: Voter, now: datetime) -> Op[None]:
    call = {"runs": after.arguments, "hashed": after.arguments_hash}
    shown = {"before": after.asked_arguments, "version": after.policy_version, "shown": after.card}
    yield SET_CALL, call | shown | {"id_": after.id, "asked_on": after.terms.to_json()}
    yield SET_STEP_CALL, call | {"run": after.run_id, "n": after.step}
    yield DROP_VOTES, {"id_": after.id}
    detail = f"{after.tool} {before.arguments_hash[:12]} to {after.arguments_hash[:12]}"
    yield from fact(now, "approval edited", voter.person.name, after.id, detail)
