"""What the tests in a browser share: the browser itself, which continuous integration must have, and the built book."""

import os

import pytest

import browser as chromium


@pytest.fixture(scope="session")
def do_without():
    """do_without(reason): fail where every check is required, that is where the variable CI is set; skip elsewhere."""

    def do_without(reason):
        (pytest.fail if os.environ.get("CI") else pytest.skip)(str(reason))

    return do_without


@pytest.fixture(scope="module")  # for the session it would keep tests in other files from running an event loop
def browser(do_without):
    try:
        with chromium.chromium() as started:
            yield started
    except chromium.MissingBrowser as missing:
        do_without(missing)


@pytest.fixture(scope="session")
def html(built_book):
    """The folder of the book's pages as the sources are now. Whether building them warns is another test's question."""
    assert (built_book.html / "book" / "index.html").exists(), built_book.failure
    return built_book.html
