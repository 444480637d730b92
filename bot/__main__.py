"""`signalbox`, and `python -m bot`: the command line."""

from __future__ import annotations

import signal


def main() -> None:
    from bot.cli.root import cli
    from bot.node.private_files import keep_to_ourselves

    keep_to_ourselves()

    # A shell's background job inherits an ignored SIGINT, and would hand it on to every program a tool starts.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)

    cli(prog_name="signalbox")


if __name__ == "__main__":
    main()
