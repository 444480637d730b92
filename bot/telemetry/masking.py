"""Keeps secrets out of what ends a process."""

from __future__ import annotations

import sys
import traceback
from types import TracebackType

from runtime.guard.masks import Mask


def mask_tracebacks(mask: Mask) -> None:
    """Print what ends this process without secrets too."""

    def show(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        sys.stderr.write(mask("".join(traceback.format_exception(kind, error, trace))))

    sys.excepthook = show
