"""The verified download, against a server on this machine: what is fetched, what is refused, and what is said."""

import errno
import gc
import hashlib
import http.server
import os
import subprocess
import sys
import threading

import pooch
import pytest

from course_lib.data import files
from course_lib.data.files import DataFileError, RemoteFile, fetch

CONTENT = bytes(range(256)) * 50
DIGEST = f"sha256:{hashlib.sha256(CONTENT).hexdigest()}"


# requests leaves the connection of a failed download to the garbage collector, which warns of it.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")


class Handler(http.server.BaseHTTPRequestHandler):
    """Serves CONTENT; under /half it announces all of it and stops halfway."""

    def do_GET(self):
        self.server.asked.append(self.path)
        if self.path == "/missing":
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(CONTENT)))
        self.end_headers()
        self.wfile.write(CONTENT[: len(CONTENT) // 2] if self.path == "/half" else CONTENT)

    def log_message(self, *arguments):
        pass


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.asked, server.url = [], f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()
    gc.collect()  # here, where the warning is ignored, not in some later test


@pytest.fixture
def remote(server):
    return RemoteFile("folder/name.bin", f"{server.url}/name.bin", DIGEST, len(CONTENT))


def below(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_an_absent_file_is_downloaded_whole_and_once(remote, server, tmp_path):
    path = fetch(remote, tmp_path / "data")
    assert path == tmp_path / "data" / "folder" / "name.bin" and path.read_bytes() == CONTENT
    assert below(tmp_path) == ["data/folder/name.bin"]  # no temporary file stays behind
    assert fetch(remote, str(tmp_path / "data")) == path and server.asked == ["/name.bin"]


def test_a_file_put_there_by_hand_needs_no_network(tmp_path):
    (tmp_path / "name.bin").write_bytes(CONTENT)
    for digest in (DIGEST, f"md5:{hashlib.md5(CONTENT).hexdigest()}"):
        assert fetch(RemoteFile("name.bin", "http://nowhere.invalid", digest), tmp_path).read_bytes() == CONTENT


@pytest.mark.parametrize("fault", ["missing", "half", "offline", "another hash", "no folder"])
def test_a_failure_says_what_to_put_where(fault, server, tmp_path):
    digest, url, root = DIGEST, f"{server.url}/{fault.replace(' ', '')}", tmp_path / "data"
    if fault == "offline":
        url = "http://127.0.0.1:9/name.bin"  # the discard port, which nobody listens on
    elif fault == "another hash":
        digest = f"sha256:{hashlib.sha256(b'another').hexdigest()}"
    elif fault == "no folder":
        (tmp_path / "file").touch()
        root = tmp_path / "file" / "data"
    with pytest.raises(DataFileError) as raised:
        fetch(RemoteFile("folder/name.bin", url, digest, 12_800), root)
    for part in (url, "12,800 bytes", digest, str(root / "folder" / "name.bin"), "root", "COURSE_DATA"):
        assert part in str(raised.value)
    assert below(tmp_path) == (["file"] if fault == "no folder" else [])


def test_a_full_disk_says_what_to_put_where(remote, tmp_path, monkeypatch):
    def full(*arguments, **options):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(pooch, "retrieve", full)
    with pytest.raises(DataFileError, match="No space left on device") as raised:
        fetch(remote, tmp_path)
    assert str(tmp_path / "folder" / "name.bin") in str(raised.value) and DIGEST in str(raised.value)


@pytest.mark.parametrize("damage", [CONTENT[:-1], CONTENT[:-1] + b"x", b""])
def test_a_damaged_file_is_named_and_left_as_it_is(damage, remote, server, tmp_path):
    path = tmp_path / "folder" / "name.bin"
    path.parent.mkdir()
    path.write_bytes(damage)
    for _ in range(2):
        with pytest.raises(DataFileError, match="left as it was") as raised:
            fetch(remote, tmp_path)
        for part in (str(path), f"has {len(damage):,} bytes", remote.url, DIGEST):
            assert part in str(raised.value)
        assert path.read_bytes() == damage
    assert server.asked == []


def test_a_file_is_hashed_once_while_it_does_not_change(tmp_path, monkeypatch):
    hashed, digest = [], hashlib.file_digest
    monkeypatch.setattr(files, "verified", set())
    monkeypatch.setattr(hashlib, "file_digest", lambda *arguments: hashed.append(1) or digest(*arguments))
    path, remote = tmp_path / "name.bin", RemoteFile("name.bin", "http://nowhere.invalid", DIGEST)
    path.write_bytes(CONTENT)
    for _ in range(3):
        fetch(remote, tmp_path)
    assert len(hashed) == 1
    path.write_bytes(CONTENT[::-1])
    os.utime(path, ns=(1, 1))  # as later writing does; here it may fall into the same tick of the clock
    with pytest.raises(DataFileError, match="left as it was"):
        fetch(remote, tmp_path)
    # Verified as one file does not mean verified as another.
    path.write_bytes(CONTENT)
    os.utime(path, ns=(2, 2))
    fetch(remote, tmp_path)
    with pytest.raises(DataFileError, match="left as it was"):
        fetch(RemoteFile("name.bin", "http://nowhere.invalid", DIGEST[:-1] + "x"), tmp_path)


def test_the_folder_is_root_or_the_variable_or_the_users_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("COURSE_DATA", str(tmp_path / "variable"))
    assert files.data_folder() == tmp_path / "variable"
    assert files.data_folder(tmp_path / "argument") == tmp_path / "argument"
    monkeypatch.delenv("COURSE_DATA")
    monkeypatch.setattr(pooch, "os_cache", lambda project: tmp_path / "cache" / project)
    assert files.data_folder() == tmp_path / "cache" / "course_lib"
    with pytest.raises(ValueError, match="root: got 3; allowed are the path of a folder"):
        files.data_folder(3)


@pytest.mark.slow
def test_the_library_imports_without_the_packages_that_only_files_need():
    code = "import sys; sys.modules |= dict.fromkeys(['pooch', 'h5py']); import course_lib.data"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
