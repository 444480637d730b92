"""Tables of what models used, the budgets for it, and models that rest."""

from __future__ import annotations

from sqlalchemy import PrimaryKeyConstraint, Table

from runtime.store.tables.columns import maybe_number, maybe_words, metadata, number, time_id, words

usage = Table(
    "usage",
    metadata,
    time_id("run_id"),
    number("step"),
    words("agent"),
    words("address"),
    maybe_words("person_id"),
    words("model"),
    number("input_tokens"),
    number("output_tokens"),
    number("cost_micros"),
    number("at"),
    number("cached_tokens", server_default="0"),
    words("instead_of", server_default=""),
    number("unpriced", server_default="0"),
    PrimaryKeyConstraint("run_id", "step"),
)

# What was spent of each budget up to `ends_at`, by whom it bounds; `reserved` is held back for `held` calls under way. Of a
# row whose time is over the sums count no more; the next change begins them anew.
budgets = Table(
    "budgets",
    metadata,
    words("scope"),
    words("subject"),
    number("spent"),
    number("tokens"),
    number("calls"),
    number("unpriced"),
    number("reserved"),
    number("held"),
    number("level"),
    number("ends_at"),
    PrimaryKeyConstraint("scope", "subject"),
)

# Money held back for the call that a run is about to make, or makes: until it is recorded, also by whoever repeats it.
reservations = Table(
    "reservations",
    metadata,
    time_id("run_id", primary_key=True),
    words("agent"),
    words("room"),
    maybe_words("person_id"),
    number("micros"),
    number("at"),
)

# Models that failed and are not asked for a while. `mark` is of the settings and keys that they were asked with.
cooldowns = Table(
    "cooldowns",
    metadata,
    words("model", primary_key=True),
    words("mark"),
    words("cause"),
    number("since"),
    maybe_number("until"),
    number("count"),
    words("reason"),
    maybe_number("probe_until"),
)
