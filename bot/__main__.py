"""`signalbox`, and `python -m bot`: the command line."""

from __future__ import annotations


def main() -> None:
    from bot.cli.root import cli

    cli(prog_name="signalbox")


if __name__ == "__main__":
    main()
