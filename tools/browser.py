"""A headless Chromium that may load from one address and from nowhere else, and that keeps what went wrong."""

import functools
import http.server
import json
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# No name but that of the local web server leads anywhere. Intercepting each request would take a fifth of the time.
ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1")
NAMES = ("chromium", "chromium-browser", "google-chrome")  # of the distribution's program; playwright's own is not used
WIDE, NARROW = 1300, 390  # widths of the window in CSS pixels: a laptop and a telephone
HEIGHT = 900
# Transitions would be caught half way; pictures that wait for the reader to scroll are fetched at once.
SETTLE = """async () => {
  const still = document.createElement('style');
  still.textContent = '*, *::before, *::after { transition: none !important; animation: none !important }';
  document.head.append(still);
  const loaded = [...document.images].map(image => {
    image.loading = 'eager';
    return image.complete || new Promise(done => image.onload = image.onerror = done);
  });
  await Promise.all([window.MathJax?.startup?.promise, document.fonts.ready, ...loaded]);
}"""


class MissingBrowser(RuntimeError):
    """There is no Chromium, or no playwright that could drive it; the message says which and what to install."""


@contextmanager
def chromium() -> Iterator:
    """A playwright Browser; raises MissingBrowser.

    While it is open an event loop runs in this thread, so that nothing else here can start one: keep it open briefly.
    """
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise MissingBrowser("playwright is not installed: `make setup` installs it.") from None
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        raise MissingBrowser(f"None of {', '.join(NAMES)} is on the PATH: install the package chromium.")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def do_GET(self):
        if self.path == "/favicon.ico":  # the browser asks for it by itself, whatever the page says
            self.send_response(204)
            self.end_headers()
        else:
            super().do_GET()

    def log_message(self, *arguments):
        """The browser's faults say what failed."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The folder on a local web server; yields its address, which ends with a slash."""
    handler = functools.partial(_Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def reader(browser, home: str, theme: str = "light") -> Iterator:
    """A browser context for the pages below the address `home`, which ends with a slash.

    theme : "light" or "dark". It is stored as a reader's choice: without one the book's theme warns on every page.
    """
    viewport = {"width": WIDE, "height": HEIGHT}
    context = browser.new_context(viewport=viewport, color_scheme=theme, service_workers="block")
    chosen = json.dumps({"mode": theme, "theme": theme})
    context.add_init_script(f"try {{ Object.assign(localStorage, {chosen}) }} catch {{}}")  # an empty page has none
    context.home = home
    try:
        yield context
    finally:
        context.close()


def _listen(page, home: str, faults: list[str]) -> None:
    """Append a sentence to `faults` for each request or message that a sound page does not cause."""

    def elsewhere(url: str) -> bool:
        return not url.startswith((home, "data:", "blob:"))

    def requested(request) -> None:
        if elsewhere(request.url):
            faults.append(f"asks elsewhere: {request.url}")

    def failed(request) -> None:
        if not elsewhere(request.url):
            faults.append(f"failed request: {request.url} ({request.failure})")

    def answered(response) -> None:
        if response.status >= 400:
            faults.append(f"failed request: {response.url} (status {response.status})")

    def said(message) -> None:
        if message.type in ("error", "warning"):
            faults.append(f"console {message.type}: {message.text} ({message.location['url']})")

    page.on("request", requested)
    page.on("requestfailed", failed)
    page.on("response", answered)
    page.on("websocket", lambda socket: faults.append(f"asks elsewhere: {socket.url}"))
    page.on("console", said)
    page.on("pageerror", lambda error: faults.append(f"uncaught error: {error}"))


@contextmanager
def opened(context, address: str) -> Iterator:
    """A page of a `reader`, loaded, with formulas, fonts and pictures in place; yields it and its list of faults.

    The list grows for as long as the page is open.
    """
    page, faults = context.new_page(), []
    _listen(page, context.home, faults)
    try:
        page.goto(context.home + address)
        page.evaluate(SETTLE)
        yield page, faults
    finally:
        page.close()


def reload_until(page, selector: str) -> None:
    """Reload a page until it shows what is asked for, ten times at most; raises AssertionError when it does not.

    On a busy computer a page can be read again before the browser has written down what it stored. From a web server,
    that is: of pages that were opened as files a profile that is thrown away, as a `reader`'s is, loses for good one in
    forty or so of what they store.
    """
    for _ in range(10):
        page.reload()
        if page.locator(selector).count():
            return
        page.wait_for_timeout(500)
    raise AssertionError(f"{selector} did not come back")
