"""Costs of runs with all that they handed on, at any depth: each question is one recursive statement."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import CTE, Select, bindparam, func, literal_column, select

from runtime.contract import ChildState, RunId
from runtime.domain.agents.order_budgets import Purse, left_for
from runtime.store.schema import children, runs, usage
from runtime.store.sql.driver import Op, is_word

MONEY: Final = func.coalesce(func.sum(usage.c.cost_micros), literal_column("0"))


def with_below(tops: Select[Any]) -> CTE:
    """Each of `tops`, a select of ids of runs or children, with itself and every run below it: columns `top` and `run`."""
    ids = tops.subquery()
    (top,) = ids.c
    tree = select(top.label("top"), top.label("run")).cte("with_below", recursive=True)
    return tree.union_all(select(tree.c.top, children.c.id).join(children, children.c.parent_run == tree.c.run))


def _purses(tops: Select[Any]) -> Select[Any]:
    """Agent, budget, money spent and id of each of `tops`, which are children, the deepest first."""
    tree = with_below(tops)
    of = children.alias("of")
    return (
        select(of.c.agent, of.c.budget_micros, MONEY, of.c.id)
        .select_from(tree)
        .join(of, of.c.id == tree.c.top)
        .outerjoin(usage, usage.c.run_id == tree.c.run)
        .group_by(of.c.agent, of.c.budget_micros, of.c.id, of.c.depth)
        .order_by(of.c.depth.desc(), of.c.id)
    )


def _self_and_above() -> Select[Any]:
    """The child that a run is, and those above it."""
    way = (
        select(children.c.id, children.c.parent_run)
        .where(children.c.id == bindparam("run"))
        .cte("self_and_above", recursive=True)
    )
    way = way.union_all(select(children.c.id, children.c.parent_run).join(way, children.c.id == way.c.parent_run))
    return select(way.c.id)


COST_OF_RUN = (
    select(MONEY)
    .select_from(tree := with_below(select(runs.c.id).where(runs.c.id == bindparam("run"))))
    .join(usage, usage.c.run_id == tree.c.run)
)
ON_THE_WAY_UP = _purses(_self_and_above())
ITSELF_AND_AT_WORK = _purses(
    select(children.c.id).where(
        (children.c.id == bindparam("run"))
        | ((children.c.parent_run == bindparam("run")) & is_word(children.c.state, ChildState.OPEN))
    )
)


def cost_of(run: RunId) -> Op[int]:
    """Money that a run has cost, with all below it, in millionths of a dollar."""
    return int((yield COST_OF_RUN, {"run": run})[0][0])


def over_budget_of(run: RunId) -> Op[tuple[Purse, bool] | None]:
    """The nearest spent budget at or above the child that a run is, and whether it is its own; None where all leave something."""
    for agent, budget, spent, child in (yield ON_THE_WAY_UP, {"run": run}):
        if budget and int(spent) >= budget:
            return Purse(agent, budget, int(spent)), child == run
    return None


def left_to_hand_on(run: RunId) -> Op[int | None]:
    """Money that a run may hand on; None where nobody bounds it."""
    rows = yield ITSELF_AND_AT_WORK, {"run": run}
    purses = {child: Purse(agent, budget, int(spent)) for agent, budget, spent, child in rows}
    own = purses.pop(run, None)
    return left_for(own, list(purses.values())) if own and own.budget else None
