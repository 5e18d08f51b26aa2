"""The weekly look at external links, against a server of our own: what is gone is named, what only refuses is not."""

import http.server
import socket
import threading

import pytest

import external_links


class Answers(http.server.BaseHTTPRequestHandler):
    """Answers each path with the status that it names: /404, /200."""

    def do_GET(self):
        self.send_response(int(self.path.strip("/")))
        self.end_headers()

    def log_message(self, *arguments):
        pass


@pytest.fixture(scope="module")
def address():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.mark.parametrize("status", [200, 403, 429, 503])
def test_there(address, status):
    assert external_links.fault(f"{address}{status}", pause=0) is None


@pytest.mark.parametrize("status", [404, 410])
def test_gone(address, status):
    assert external_links.fault(f"{address}{status}", pause=0) == f"status {status}"


def test_nobody_answers():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: connections are refused
        assert "refused" in external_links.fault(f"http://127.0.0.1:{taken.getsockname()[1]}/", pause=0)


def test_links_of_a_book(tmp_path, address, monkeypatch, capsys):
    (tmp_path / "a.html").write_text(f'<a href="{address}404#x"></a><a href="{address}200"></a><a href="b.html"></a>')
    (tmp_path / "b.html").write_text(f'<a href="{address}404"></a>')
    assert external_links.links(tmp_path) == {f"{address}404": ["a.html", "b.html"], f"{address}200": ["a.html"]}
    monkeypatch.setattr(external_links.time, "sleep", lambda seconds: None)
    monkeypatch.setattr("sys.argv", ["external_links.py", str(tmp_path)])
    assert external_links.main() == 1
    said = capsys.readouterr().out
    assert f"{address}404: status 404; linked from a.html, b.html" in said and "2 addresses, 1 of them gone" in said
