"""`[secrets]`: where secrets are looked for, and where each may be sent."""

from __future__ import annotations

import re
from typing import Annotated, Final

from pydantic import AfterValidator, Field

from runtime.settings.types import Place, Proof, Section


def _host(name: str) -> str:
    if not SECRET_HOST.fullmatch(name):
        raise ValueError('a host, such as "api.example.com", or "*.example.com" for all below it')
    return name


SECRET_HOST: Final = re.compile(r"(\*\.)?[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63})+|localhost|127\.0\.0\.1")
"""A host to which a secret may be sent."""
SecretHost = Annotated[str, AfterValidator(_host)]


class Secrets(Section):
    """Sources for the secrets of `…_env` settings that no variable holds: first a folder, then the secrets sealed with
    `signalbox secrets`."""

    folder: Place | None = Field(
        default=None,
        description="Folder of plain files, each named like the variable it stands for, as container engines and systemd provide secrets: /run/secrets.",
    )

    file: Place | None = Field(
        default=None,
        description="Sealed file to look in first. If named here, it must be readable. Default: `secrets.sealed` in `data_dir`, then in the user's config folder.",
    )
    passphrase_file: Place | None = Field(
        default=None,
        description="File whose first line opens sealed files, for services; or set SIGNALBOX_SECRETS_PASSPHRASE.",
    )
    hosts: dict[str, tuple[SecretHost, ...]] = Field(
        default={},
        description="Hosts to which calls may send a secret of a variable or of `folder`, by its name: "
        '`{GITHUB_TOKEN = ["api.github.com"]}`. Those of sealed secrets are set with `signalbox secrets set NAME --hosts`.',
    )
    shared_key: Proof = Field(
        default=None,
        description="Key with which nodes seal the sign-ins that they share: random text of at least 16 characters; `openssl rand -hex 32` makes it. Default: "
        "`guard.key` in `data_dir`, which then has to be the same on all nodes.",
    )
    shared_key_env: str = Field(
        default="", description="Name of the variable or sealed secret that holds `shared_key`."
    )
