"""A message of a program with what became of it, read from the rows it left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from sqlalchemy import ColumnElement, Integer, and_, bindparam, func, literal_column, select, tuple_

from runtime.contract import Address, ApprovalKind, Asking, Content, RunId, SignalId
from runtime.domain.programs.followed import Followed, OpenQuestion, RunFacts, SaidStep, state_of
from runtime.store.common import escaped
from runtime.store.schema import approvals, deliveries, runs, signals, steps, turns, usage
from runtime.store.sql.driver import Op, is_word, maybe_moment, moment

SAID_COLUMNS: Final = (
    signals.c.id,
    signals.c.platform,
    signals.c.address,
    signals.c.text,
    signals.c.state,
    signals.c.run_id,
    signals.c.merged_into,
    signals.c.session,
    signals.c.accepted_at,
    signals.c.natural_key,
)
SAID_BY_ID = select(*SAID_COLUMNS).where(signals.c.id == bindparam("id"))
SAID_BY_KEY = select(signals.c.id).where(signals.c.platform == bindparam("p"), signals.c.dedupe_key == bindparam("d"))
_keyed_said: Final[tuple[ColumnElement[bool], ...]] = (
    signals.c.actor == bindparam("a"),
    literal_column("kind = 'said'"),
    literal_column("state <> 'refused'"),  # as its index has it
    signals.c.natural_key.like(bindparam("like"), escape="\\"),
)
_last = signals.alias("last")
KEYED_SAID = (
    select(signals.c.id)
    .where(*_keyed_said)
    .order_by(signals.c.accepted_at.desc(), signals.c.id.desc())
    .limit(bindparam("n", type_=Integer))
)
KEYED_SAID_BEHIND = KEYED_SAID.where(
    tuple_(signals.c.accepted_at, signals.c.id)
    < select(_last.c.accepted_at, _last.c.id).where(_last.c.id == bindparam("behind")).scalar_subquery()
)
KEYED_SAID_COUNT = select(func.count()).select_from(signals).where(*_keyed_said)
RUN_FACTS = select(runs.c.state, runs.c.session, runs.c.last_turn, runs.c.error, runs.c.model, runs.c.ended_at).where(
    runs.c.id == bindparam("run")
)
ANSWER_TURN = select(turns.c.text).where(
    turns.c.session == bindparam("s"), turns.c.number == bindparam("n"), is_word(turns.c.role, "assistant")
)
OPEN_QUESTIONS = (
    select(approvals.c.id, approvals.c.kind, approvals.c.tool, approvals.c.expires_at, approvals.c.card)
    .where(approvals.c.run_id == bindparam("run"), is_word(approvals.c.state, "pending"))
    .order_by(approvals.c.id)
)
SAID_BY_RUN = (
    select(steps.c.number, turns.c.text, turns.c.number == runs.c.last_turn)
    .join(runs, runs.c.id == steps.c.run_id)
    .join(turns, and_(turns.c.session == runs.c.session, turns.c.number == steps.c.turn))
    .where(steps.c.run_id == bindparam("run"), is_word(steps.c.kind, "model"), is_word(turns.c.role, "assistant"))
    .order_by(steps.c.number)
)
ANSWERS = select(deliveries.c.content).where(deliveries.c.origin == bindparam("o")).order_by(deliveries.c.ordinal)
SPENT = select(
    func.coalesce(func.sum(usage.c.input_tokens), 0),
    func.coalesce(func.sum(usage.c.output_tokens), 0),
    func.coalesce(func.sum(usage.c.cost_micros), 0),
    func.coalesce(func.max(usage.c.model), ""),
).where(usage.c.run_id == bindparam("run"))


def followed(signal: str) -> Op[Followed | None]:
    """The message with this id, and how it stands by now."""
    rows = yield SAID_BY_ID, {"id": signal}
    if not rows:
        return None
    own, row = rows[0], rows[0]
    if own[6] is not None and own[5] is None:  # its twin, which both of them are answered with
        twin = yield SAID_BY_ID, {"id": own[6]}
        row = twin[0] if twin else own
    run = row[5]
    found = yield RUN_FACTS, {"run": run} if run else {"run": ""}
    answers = yield from _answers(f"run:{run}" if run else f"signal:{own[0]}")
    bare = _bare(own, run, RunFacts(), answers)
    return (yield from _with_run(bare, run, found[0], answers)) if found else bare


def _bare(own: Sequence[Any], run: str | None, facts: RunFacts, answers: Sequence[Content]) -> Followed:
    return Followed(
        id=SignalId(own[0]),
        platform=own[1],
        address=Address.parse(own[2]),
        agent=(own[7] or "").partition("|")[0],
        state=state_of(own[4], None, answered=bool(answers)),
        own=own[3],
        body=own[9] or "",
        at=moment(own[8]),
        run=RunId(run) if run else None,
        text="\n\n".join(one.all_text for one in answers),
    )


def _with_run(bare: Followed, run: str, row: Sequence[Any], answers: Sequence[Content]) -> Op[Followed]:
    state, session, last, error, _, ended_at = row
    asked = yield OPEN_QUESTIONS, {"run": run}
    questions = tuple(OpenQuestion(one[0], one[1], one[2], moment(one[3]), asked_in(one[1], one[4])) for one in asked)
    stands = state_of("", RunFacts(state, questions), answered=False)
    words = (yield ANSWER_TURN, {"s": session, "n": last}) if stands.is_over else []
    spent = (yield SPENT, {"run": run})[0]
    return replace(
        bare,
        state=stands,
        text=words[0][0] if words else "",
        error=error if stands.is_over else "",
        model=spent[3],
        files=tuple(file for one in answers for file in one.files) if stands.is_over else (),
        questions=questions,
        input_tokens=int(spent[0]),
        output_tokens=int(spent[1]),
        cost_micros=int(spent[2]),
        ended_at=maybe_moment(ended_at),
    )


def asked_in(kind: str, card: str) -> str:
    """Words of a question that is no call's; empty for others."""
    return Asking.from_json(card).question if kind == ApprovalKind.ANSWER and card else ""


def _answers(origin: str) -> Op[list[Content]]:
    rows = yield ANSWERS, {"o": origin}
    return [Content.from_json(row[0]) for row in rows]


def said_by(run: RunId) -> Op[tuple[SaidStep, ...]]:
    """Texts of a run's model calls that are recorded, in order."""
    rows = yield SAID_BY_RUN, {"run": run}
    return tuple(SaidStep(int(row[0]), row[1], bool(row[2])) for row in rows)


def keyed_said(actor: str, key: str, limit: int, behind: str) -> Op[tuple[list[SignalId], int]]:
    """Messages of `actor` whose keys begin with `key`, newest first, behind one of them; and how many there are."""
    given = {"a": actor, "like": f"{escaped(key)}%", "n": limit, "behind": behind}
    rows = yield KEYED_SAID_BEHIND if behind else KEYED_SAID, given
    count = yield KEYED_SAID_COUNT, given
    return [SignalId(row[0]) for row in rows], int(count[0][0])


def id_by_key(platform: str, key: str) -> Op[SignalId | None]:
    """The message that a program sent under a key before."""
    rows = yield SAID_BY_KEY, {"p": platform, "d": key}
    return SignalId(rows[0][0]) if rows else None
