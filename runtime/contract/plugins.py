"""The seam to a channel as a whole: its table of settings, its secrets, its help, and the adapter that comes of them.

A channel hands over one `ChannelPlugin`. The module that holds it imports no client library: only `make` and `check` do.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from runtime.contract.channels import ChannelAdapter
from runtime.contract.rooms import AdapterContext, Finding


@dataclass(frozen=True, slots=True)
class TokenForm:
    """A kind of token: enough to tell it from others, and that it was pasted whole.

    `looks` tells people where it is and how it looks; empty for a token that is only known so as to be refused.
    `form` matches only what is surely one, since it tells the tokens of others apart too; one that matches nothing is fine.
    `vague`: not all that are one match, so only what is surely something else is refused.
    """

    kind: str
    form: re.Pattern[str]
    looks: str = ""
    begins: re.Pattern[str] | None = None
    vague: bool = False


@dataclass(frozen=True, slots=True)
class AccountSecret:
    """A secret of an account: its form, the variable where people usually keep it, and its name in the set-up.

    `modes`: values of the account's `mode` that need it; empty for all.
    """

    form: TokenForm
    variable: str
    title: str = ""
    modes: tuple[str, ...] = ()


def no_faults(table: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    """None beside those of each setting alone."""
    return ()


@dataclass(frozen=True, slots=True)
class ChannelPlugin:
    """One chat platform: all that the program knows of it.

    `settings` is the table of an account (`runtime.settings.accounts.Account`), which `make` and `check` are given.
    `secrets` are by setting; `others` are tokens of the platform that belong nowhere. The first of `modes` is the default.
    `setup` tells where the tokens are made. `faults` yields (setting, fault) of a table as it was read, for what no
    setting alone can tell. `loggers` tell too much at "info". `check` is what `signalbox doctor` finds, asking the
    platform and changing nothing; ids of its findings begin with the account, as in "slack.work.scopes".
    """

    channel: str
    title: str
    settings: type[Any]
    make: Callable[[Any, AdapterContext], ChannelAdapter]
    secrets: Mapping[str, AccountSecret] = field(default_factory=dict)
    others: Sequence[TokenForm] = ()
    modes: Sequence[str] = ()
    setup: str = ""
    faults: Callable[[Mapping[str, Any]], Iterable[tuple[str, str]]] = no_faults
    loggers: Sequence[str] = ()
    check: Callable[[Any], Awaitable[Sequence[Finding]]] | None = None

    def needed(self, mode: object = None) -> Mapping[str, AccountSecret]:
        """Secrets without which an account cannot work; for a mode that does not exist, those of the default."""
        chosen = mode if mode in self.modes else next(iter(self.modes), "")
        return {name: secret for name, secret in self.secrets.items() if not secret.modes or chosen in secret.modes}

    @property
    def tokens(self) -> Sequence[TokenForm]:
        """Every kind of token that people of this platform have."""
        return [*(secret.form for secret in self.secrets.values()), *self.others]
