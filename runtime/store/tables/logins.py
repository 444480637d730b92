"""Table of sign-ins at issuers of tokens."""

from __future__ import annotations

from sqlalchemy import Table

from runtime.store.tables.columns import maybe_number, metadata, number, words

# Sign-ins by name, `mcp:` before those at MCP servers. `sealed` is the grant, which only the key of the data folder opens.
# `version` rises with each grant. Who renews it holds `claim` until `claimed_until`; `unfinished` is 1 from then on until the
# issuer's answer is stored, so that a kill between the two is seen. `trouble` says what only a person can mend.
logins = Table(
    "logins",
    metadata,
    words("name", primary_key=True),
    words("sealed"),
    number("version"),
    maybe_number("ends_at"),
    number("renews"),
    words("issuer"),
    words("signed_in_by"),
    number("signed_in_at"),
    maybe_number("renewed_at"),
    words("claim"),
    maybe_number("claimed_until"),
    number("unfinished"),
    number("refusals"),
    words("trouble"),
)
