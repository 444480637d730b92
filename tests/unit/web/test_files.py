"""Files: what goes up is whole or not there, what comes down is the workspace's and nothing else."""

from __future__ import annotations

import os
from io import BytesIO
from pathlib import Path

import pytest
from aiohttp import ClientSession, FormData
from hypothesis import given
from hypothesis import strategies as st
from yarl import URL

from adapters.web.files import Upload, listing
from adapters.web.settings import WebSettings
from adapters.web.transfer import FileTransfer
from runtime.contract import NAME_BYTES, PARTIAL, Address, PersonId, Role, clean_name
from runtime.http.errors import Refusal
from runtime.workspace.disk_space import DiskBounds, DiskSpace, used_by
from runtime.workspace.safe_fs import BadPath, parts, reading
from runtime.workspace.workspaces import WorkspaceFolders
from tests.unit.web.stage import served

FILES = "/api/rooms/room01/files"


def form(content: bytes, name: str = "a.txt", field: str = "file") -> FormData:
    data = FormData(quote_fields=False)  # as browsers do
    data.add_field(field, BytesIO(content), filename=name)
    return data


async def test_an_upload_arrives_whole_and_is_given_to_the_tools(tmp_path: Path) -> None:
    content = os.urandom(3_000_001)
    async with served(tmp_path) as stage, stage.client(stage.links.add("Ada", Role.USER)) as client:
        async with client.post(FILES, data=form(content, "Größe 漢 (1).csv")) as answer:
            assert answer.status == 201
            assert await answer.json() == {
                "name": "Größe 漢 (1).csv",
                "path": "uploads/Größe 漢 (1).csv",
                "size": len(content),
            }
        folder = stage.workspaces.folder(stage.address("room01"))
        assert (folder / "uploads" / "Größe 漢 (1).csv").read_bytes() == content
        given = [folder / "uploads", folder / "uploads" / "Größe 漢 (1).csv"]
        assert stage.workspaces.admitted == [path.stat().st_ino for path in given]
        async with client.get(f"{FILES}/uploads/Größe 漢 (1).csv") as answer:
            assert await answer.read() == content


async def test_an_equal_name_gets_a_number_and_replaces_nothing(tmp_path: Path) -> None:
    async with served(tmp_path) as stage, stage.client(stage.links.add("Ada", Role.USER)) as client:
        names = []
        for content in (b"one", b"two", b"three"):
            async with client.post(FILES, data=form(content, "a.tar.gz")) as answer:
                names.append((await answer.json())["name"])
        assert names == ["a.tar.gz", "a.tar-2.gz", "a.tar-3.gz"]
        folder = stage.workspaces.folder(stage.address("room01")) / "uploads"
        assert [(folder / name).read_bytes() for name in names] == [b"one", b"two", b"three"]


async def uploads(client: ClientSession, room: str, count: int) -> list[int]:
    """How uploads of 400 KB each are answered."""
    told = []
    for number in range(count):
        async with client.post(f"/api/rooms/{room}/files", data=form(bytes(400_000), f"{number}.bin")) as answer:
            told.append(answer.status)
    return told


@pytest.mark.parametrize("bounds", [DiskBounds(1 << 20, 1 << 40, 0), DiskBounds(1 << 40, 1 << 20, 0)])
async def test_uploads_end_at_the_bound_of_the_room_and_of_the_person(tmp_path: Path, bounds: DiskBounds) -> None:
    space = DiskSpace(bounds, tmp_path / "ledger")
    async with served(tmp_path / "w", space=space) as stage, stage.client(stage.links.add("Ada", Role.USER)) as client:
        assert await uploads(client, "room01", 5) == [201, 201, 507, 507, 507]
        folder = stage.workspaces.folder(stage.address("room01"))
        stage.history.owners[stage.address("room02")] = stage.history.owners[stage.address("room01")]
        assert sorted(file.name for file in (folder / "uploads").iterdir()) == ["0.bin", "1.bin"]
        assert used_by(folder, 1 << 40) < 1 << 20
        everywhere = bounds.person < 1 << 40
        assert await uploads(client, "room02", 1) == [507 if everywhere else 201]
        (folder / "uploads" / "0.bin").unlink()
        assert await uploads(client, "room01", 1) == [201]


@pytest.mark.parametrize("bounds", [DiskBounds(1 << 20, 1 << 40, 0), DiskBounds(1 << 40, 1 << 20, 0)])
async def test_files_that_come_within_messages_count_as_uploads_do(tmp_path: Path, bounds: DiskBounds) -> None:
    rooms, room, half = WorkspaceFolders(tmp_path, "main"), Address("web", "main", "room01"), b"x" * (1 << 19)
    files = FileTransfer(
        workspaces=rooms, upload_bytes=1, new_id=lambda: "1", space=DiskSpace(bounds, tmp_path / "ledger")
    )

    async def keep(*names: str) -> None:
        for name in names:
            async with files.counting(room, name, len(half), PersonId("ada")):
                (rooms.folder(room) / name).write_bytes(half)

    with pytest.raises(Refusal, match=r"reached the(ir)? limit") as refused:
        await keep("a", "b", "c")  # the last one that fits may reach over the bound
    assert refused.value.status == 507
    for file in rooms.folder(room).iterdir():
        file.unlink()
    await keep("d")


async def test_below_the_floor_no_upload_begins(tmp_path: Path) -> None:
    space = DiskSpace(DiskBounds(free=1 << 62), tmp_path / "ledger")
    async with (
        served(tmp_path, space=space) as stage,
        stage.client(stage.links.add("Ada", Role.USER)) as client,
        client.post(FILES, data=form(b"x")) as answer,
    ):
        assert answer.status == 507
        assert "must stay free" in (await answer.json())["error"]


async def test_a_file_beyond_the_limit_leaves_nothing_behind(tmp_path: Path) -> None:
    settings = WebSettings(upload_bytes=100_000)
    async with served(tmp_path, settings=settings) as stage, stage.client(stage.links.add("Ada", Role.USER)) as client:
        for size in (100_001, 10_000_000):
            async with client.post(FILES, data=form(b"x" * size)) as answer:
                assert answer.status == 413
                assert "MiB" in (await answer.json())["error"]
        uploads = stage.workspaces.folder(stage.address("room01")) / "uploads"
        assert list(uploads.iterdir()) == []
        async with client.post(FILES, data=form(b"x" * 100_000)) as answer:
            assert answer.status == 201


@pytest.mark.parametrize(
    ("data", "headers", "status"),
    [
        (b"plain", {"Content-Type": "text/plain"}, 415),
        (b"no form at all", {"Content-Type": "multipart/form-data; boundary=x"}, 400),
        (b"x", {"Content-Type": "multipart/form-data"}, 400),
        (b"--x\r\nContent-Disposition: form-data; name=other\r\n\r\nx\r\n--x--\r\n", {"Content-Type": "multipart/form-data; boundary=x"}, 400),
    ],
)  # fmt: skip
async def test_a_malformed_form_is_explained(tmp_path: Path, data: bytes, headers: dict[str, str], status: int) -> None:
    async with (
        served(tmp_path) as stage,
        stage.client(stage.links.add("Ada", Role.USER)) as client,
        client.post(FILES, data=data, headers=headers) as answer,
    ):
        assert answer.status == status
        assert (await answer.json())["error"]


async def test_an_uploads_folder_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    async with served(tmp_path / "ws") as stage, stage.client(stage.links.add("Ada", Role.USER)) as client:
        (stage.workspaces.folder(stage.address("room01")) / "uploads").symlink_to(elsewhere)
        async with client.post(FILES, data=form(b"x")) as answer:
            assert answer.status == 409
        assert list(elsewhere.iterdir()) == []


async def test_a_download_is_never_shown_as_a_page(tmp_path: Path) -> None:
    async with served(tmp_path) as stage, stage.client(stage.links.add("Ada", Role.USER)) as client:
        folder = stage.workspaces.folder(stage.address("room01"))
        (folder / "péage.html").write_text("<script>1</script>")
        async with client.get(f"{FILES}/péage.html") as answer:
            assert answer.content_type == "application/octet-stream"
            assert answer.headers["Content-Disposition"] == "attachment; filename*=UTF-8''p%C3%A9age.html"
            assert answer.headers["X-Content-Type-Options"] == "nosniff"


PNG = b"\x89PNG\r\n\x1a\n" + b"0" * 8


@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [
        ("chart.png", PNG, "image/png"),
        ("photo.jpg", b"\xff\xd8\xff\xe0" + b"0" * 12, "image/jpeg"),
        ("moving.gif", b"GIF89a" + b"0" * 8, "image/gif"),
        ("small.webp", b"RIFF1234WEBPVP8 ", "image/webp"),
        ("page.png", b"<script>1</script>", "application/octet-stream"),
        ("drawing.svg", b"<svg xmlns='http://www.w3.org/2000/svg'/>", "application/octet-stream"),
        ("chart.html", PNG, "image/png"),
        ("empty.png", b"", "application/octet-stream"),
    ],
)
async def test_a_picture_can_be_looked_at_and_nothing_else(tmp_path: Path, name: str, data: bytes, kind: str) -> None:
    """By its first bytes, however it is called; a browser is told to guess nothing."""
    async with served(tmp_path) as stage, stage.client(stage.links.add("Ada", Role.USER)) as client:
        (stage.workspaces.folder(stage.address("room01")) / name).write_bytes(data)
        async with client.get(f"{FILES}/{name}?view") as answer:
            assert (answer.content_type, await answer.read()) == (kind, data)
            assert answer.headers["Content-Disposition"].startswith("inline" if "image" in kind else "attachment")
            assert answer.headers["X-Content-Type-Options"] == "nosniff"
        async with client.get(f"{FILES}/{name}") as answer:
            assert answer.headers["Content-Disposition"].startswith("attachment")


@pytest.mark.parametrize(
    "path", ["..%2fsecret", "%2e%2e/secret", "sub/..%2f..%2fsecret", "link", "linked/secret", "sub", "pipe", "%00", "nothing", "%2fetc%2fpasswd", "a%2f%2fb", "x" * 300]
)  # fmt: skip
async def test_nothing_outside_the_workspace_comes_down(tmp_path: Path, path: str) -> None:
    async with served(tmp_path / "ws") as stage, stage.client(stage.links.add("Ada", Role.USER)) as client:
        folder = stage.workspaces.folder(stage.address("room01"))
        (tmp_path / "ws" / "secret").write_text("secret")
        (folder / "sub").mkdir()
        (folder / "link").symlink_to(tmp_path / "ws" / "secret")
        (folder / "linked").symlink_to(tmp_path / "ws")
        os.mkfifo(folder / "pipe")
        async with client.get(URL(f"{stage.base}{FILES}/{path}", encoded=True)) as answer:
            assert answer.status in (400, 404)
            assert "secret" not in await answer.text()


async def test_the_list_names_plain_files_of_this_room_only(tmp_path: Path) -> None:
    async with served(tmp_path) as stage, stage.client(stage.links.add("Ada", Role.USER)) as client:
        folder = stage.workspaces.folder(stage.address("room01"))
        (folder / "sub").mkdir()
        (folder / "sub" / "b.txt").write_text("bb")
        (folder / "link").symlink_to(folder / "sub" / "b.txt")
        (folder / f"{PARTIAL}1").write_text("half")
        (folder / os.fsdecode(b"bad-\xff")).write_text("nobody can ask for it")
        (stage.workspaces.folder(stage.address("other1")) / "c.txt").write_text("c")
        async with client.get(FILES) as answer:
            told = await answer.json()
        assert [(file["path"], file["size"]) for file in told["files"]] == [("sub/b.txt", 2)]
        assert told["more"] is False


def test_a_long_list_is_cut_and_says_so(tmp_path: Path) -> None:
    for number in range(1_001):
        (tmp_path / str(number)).touch()
    files, more = listing(tmp_path)
    assert (len(files), more) == (1_000, True)


def test_an_upload_whose_file_was_made_a_link_brings_in_nothing_from_outside(tmp_path: Path) -> None:
    """Who may write to the folder sees the file on its way, for as long as it takes."""
    secret, uploads = tmp_path / "secret", tmp_path / "room" / "uploads"
    uploads.mkdir(parents=True)
    secret.write_text("only outside")
    upload = Upload(tmp_path / "room", mark="1")
    upload.write(b"whole")
    (uploads / ".upload-1").unlink()
    (uploads / ".upload-1").symlink_to(secret)
    kept = upload.keep("report.txt")
    upload.close()
    assert kept == "uploads/report.txt"
    assert secret.stat().st_nlink == 1, "it has a name in the room now"
    assert [file.name for file in uploads.iterdir() if file.is_file() and not file.is_symlink()] == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_an_upload_whose_folder_was_made_a_link_gives_nothing_of_outside_away(tmp_path: Path) -> None:
    outside, room = tmp_path / "outside", tmp_path / "room"
    outside.mkdir()
    room.mkdir()
    (outside / "report.txt").write_text("only outside")
    upload = Upload(room, mark="1", admit=WorkspaceFolders(tmp_path, "main", uid=65534).admit)
    upload.write(b"whole")
    (room / "uploads").rename(room / "moved")
    (room / "uploads").symlink_to(outside)
    upload.keep("report.txt")
    upload.close()
    assert (outside / "report.txt").stat().st_uid == 0
    assert (room / "moved" / "report.txt").stat().st_uid == (room / "moved").stat().st_uid == 65534


def test_an_upload_that_ends_early_leaves_nothing(tmp_path: Path) -> None:
    upload = Upload(tmp_path, mark="1")
    upload.write(b"half")
    upload.close()
    assert list((tmp_path / "uploads").iterdir()) == []


@pytest.mark.parametrize(
    ("name", "clean"),
    [
        ("a.txt", "a.txt"),
        ("../../etc/passwd", "passwd"),
        ("C:\\dir\\a.doc", "a.doc"),
        (".bashrc", "bashrc"),
        ("", "file"),
        ("...", "file"),
        ("a\x00b\n.txt", "ab.txt"),
        ("漢字.txt", "漢字.txt"),
        ("\u202etxt.exe", "txt.exe"),
        ("\u00a0 a\u2003b.txt ", "a b.txt"),
    ],
)
def test_names_become_harmless(name: str, clean: str) -> None:
    assert clean_name(name) == clean


@given(st.text(max_size=400))
def test_any_name_becomes_one_that_can_be_stored_and_asked_for(name: str) -> None:
    clean = clean_name(name)
    assert parts(clean) == [clean]
    assert len(clean.encode()) <= NAME_BYTES
    assert not clean.startswith(".")


@given(st.text(alphabet="./a\0\\é", max_size=12))
def test_no_path_leaves_the_folder(path: str) -> None:
    try:
        names = parts(path)
    except BadPath:
        return
    assert not {"", ".", ".."} & set(names)


def test_a_folder_in_the_middle_that_became_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "x").write_text("x")
    (tmp_path / "ws").mkdir()
    (tmp_path / "ws" / "dir").symlink_to(tmp_path / "real")
    with pytest.raises(OSError), reading(tmp_path / "ws", "dir/x"):  # noqa: PT011 - ELOOP or ENOTDIR, as the system says it
        pass
