"""`tools.d` beside the settings file, which is used where it's there and the settings name no other folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from bot.settings.sources import Layers
from runtime.contract import Effect

TOOLS_FOLDER: Final = "tools.d"
SETTING: Final = "tools.folder"


def add_tools_folder(layers: Layers, start: Path) -> None:
    """Name the folder, unless the settings do."""
    if layers.get(SETTING) is None and isinstance(layers.get("tools") or {}, dict) and (start / TOOLS_FOLDER).is_dir():
        layers.put(SETTING, str((start / TOOLS_FOLDER).absolute()), source=TOOLS_FOLDER)


def declared(layers: Layers) -> Iterator[tuple[str, Effect]]:
    """Tools that files of the folder say they have, each with its effect. Nothing of them is run."""
    given, source = layers.get(SETTING), Path(layers.source(SETTING))
    start = source.parent if source.suffix == ".toml" else Path()
    if isinstance(given, str) and (folder := start / Path(given).expanduser()).is_dir():
        from tools.plugins.reading import files_in  # loaded only where there are such files

        yield from (pair for file in files_in(folder) for pair in file.declared.items())
