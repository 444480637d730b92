"""INSERT … ON CONFLICT, one construct for both engines.

SQLAlchemy has one for each, and both write the same words. PostgreSQL's comes with 3 MB of a dialect that an embedded
store has no use for; SQLite's lacks one attribute that PostgreSQL's compiler looks at, for a way to name a constraint
that we do not use.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy.dialects.sqlite.dml import Insert, OnConflictClause, insert

__all__ = ["Insert", "insert"]

NAMED_CONSTRAINT: Final = "constraint_target"

setattr(OnConflictClause, NAMED_CONSTRAINT, None)
