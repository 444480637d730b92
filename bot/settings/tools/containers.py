"""`[tools.containers]`: commands in containers of docker or podman."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Annotated, Final

from pydantic import AfterValidator, Field

from runtime.settings.types import Number, Section, Whole

IMAGE_SHAPE: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/:@-]{0,254}")


def _image(name: str) -> str:
    if not IMAGE_SHAPE.fullmatch(name):
        raise ValueError('the name of an image, such as "docker.io/library/python:3.13-slim"')
    return name


class ContainersSection(Section):
    """Containers for `container_exec`: [sandbox.md](containers.md). They have no network and see the room's files alone."""

    images: tuple[Annotated[str, AfterValidator(_image)], ...] = Field(
        default=(),
        max_length=50,
        description='Images that agents may use, such as ["docker.io/library/python:3.13-slim"]. They must be on this machine: none '
        "is fetched by itself. Each needs a /bin/sh. Empty: the tool isn't offered.",
    )
    program: str = Field(
        default="", description='"podman" or "docker", or the path of one. Empty: whichever is installed, podman first.'
    )
    runtime: str = Field(
        default="",
        description='OCI runtime that they use, such as "runsc" of gVisor or "runc". Empty: the one they use by themselves.',
    )
    memory_mib: Whole = Field(default=512, ge=16, le=1 << 20, description="Most memory of one container.")
    cpus: Number = Field(default=1, gt=0, le=1024, description="Processors for one container; 0.5 is half of one.")
    processes: Whole = Field(
        default=100, ge=8, le=100_000, description="Most processes of one container, threads included."
    )
    timeout_seconds: Number = Field(default=60, gt=0, le=3600, description="Longest time of a command.")

    @property
    def timeout(self) -> timedelta:
        return timedelta(seconds=self.timeout_seconds)
