"""Where files of a message go."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.contract import Address, FileRef, Identity, Said, Signal, Stopped
from runtime.intake.reception import placed
from runtime.workspace.safe_fs import parts

SIGNAL = Signal(
    platform="fake:bot",
    dedupe_key="u1",
    actor=Identity("fake:ada"),
    actor_name="Ada",
    address=Address("fake", "bot", "r1"),
    body=Said(""),
    received_at=datetime(2026, 3, 1, tzinfo=UTC),
    natural_key="m1",
)


def paths(*files: FileRef, **more: str) -> list[str]:
    signal = replace(SIGNAL, body=Said("hi", files), **more)  # type: ignore[arg-type]
    body = placed(signal).body
    assert isinstance(body, Said)
    return [file.path for file in body.files]


def remote(name: str) -> FileRef:
    return FileRef(name, "", 1, "id")


def test_a_file_gets_a_place_of_its_message() -> None:
    (path,) = paths(remote("report.pdf"))
    inbox, folder, name = path.split("/")
    assert (inbox, folder[:11], name) == ("inbox", "2026-03-01-", "report.pdf")


def test_an_event_that_comes_twice_means_the_same_file() -> None:
    assert paths(remote("a"), dedupe_key="u1") == paths(remote("a"), dedupe_key="u2")


def test_two_messages_and_two_accounts_never_share_a_folder() -> None:
    made = [paths(remote("a")), paths(remote("a"), natural_key="m2"), paths(remote("a"), platform="fake:other")]
    assert len({path for (path,) in made}) == 3


def test_files_of_one_name_in_one_message_stay_apart() -> None:
    names = [path.rpartition("/")[2] for path in paths(remote("a.txt"), remote("A.TXT"), remote("b/a.txt"))]
    assert names == ["a.txt", "2-A.TXT", "3-a.txt"]


def test_what_an_adapter_says_about_the_path_of_a_remote_file_does_not_count() -> None:
    assert paths(FileRef("a", "../../etc/passwd", 1, "id"))[0].startswith("inbox/")


def test_files_that_are_here_already_stay_where_they_are() -> None:
    upload = FileRef("a", "uploads/a", 1)
    assert paths(upload, remote("b"))[0] == "uploads/a"
    assert placed(replace(SIGNAL, body=Said("x", (upload,)))).body == Said("x", (upload,))


def test_other_signals_stay_as_they_are() -> None:
    stop = replace(SIGNAL, body=Stopped())
    assert placed(stop) is stop


@given(st.text(max_size=300), st.text(max_size=50))
def test_no_name_leads_out_of_the_inbox(name: str, key: str) -> None:
    (path,) = paths(remote(name), natural_key=key)
    assert len(parts(path)) == 3
    assert len(path.encode()) < 200


@pytest.mark.parametrize("name", ["../../x", "..", "/etc/passwd", "a\0b", "a\nb", "C:\\x\\y.txt"])
def test_names_that_lead_elsewhere_are_only_names(name: str) -> None:
    assert not set(paths(remote(name))[0].rpartition("/")[2]) & set("/\\\0\n")
