"""Ask for every address that the built book links to, and say which are gone: for the weekly check, with a network.

    python tools/external_links.py _build/html

An address is gone when its server says so (404 or 410) or cannot be reached, three times. Publishers turn programs away
with other answers: these count as there, and not as broken, which is what Sphinx' linkcheck
would call them; nor does that see links in raw HTML.
"""

import argparse
import http.client
import sys
import time
import urllib.error
import urllib.request
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bs4 import BeautifulSoup

import site_rules

GONE = (404, 410)
SECONDS, ATTEMPTS = 20, 3


def links(html: Path) -> dict[str, list[str]]:
    """Address -> the pages that link to it, for all links that leave the book."""
    found = defaultdict(list)
    for page in site_rules.pages(html):
        soup = BeautifulSoup((html / page).read_text(encoding="utf-8"), "html.parser")
        for address in {link["href"].partition("#")[0] for link in soup.find_all("a", href=True)}:
            if address.startswith(("https:", "http:")):
                found[address].append(page)
    return dict(found)


def fault(address: str, attempts: int = ATTEMPTS, pause: float = 10) -> str | None:
    """Why the address is gone; None if it is there. It is asked `attempts` times, `pause` seconds apart."""
    request = urllib.request.Request(address, headers={"User-Agent": "Mozilla/5.0 (link check)"})
    for attempt in range(attempts):
        if attempt:
            time.sleep(pause)
        try:
            with urllib.request.urlopen(request, timeout=SECONDS):
                return None
        except urllib.error.HTTPError as error:
            if error.code not in GONE:
                return None
            reason = f"status {error.code}"
        except (OSError, http.client.HTTPException) as error:
            reason = str(getattr(error, "reason", error))
    return reason


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("html", type=Path, help="the folder of the built book: _build/html")
    where = links(parser.parse_args().html)
    with ThreadPoolExecutor(8) as pool:
        reasons = dict(zip(where, pool.map(fault, where), strict=True))
    gone = {address: reason for address, reason in reasons.items() if reason}
    for address, reason in gone.items():
        print(f"{address}: {reason}; linked from {', '.join(where[address])}")
    print(f"{len(where)} addresses, {len(gone)} of them gone.")
    return 1 if gone else 0


if __name__ == "__main__":
    sys.exit(main())
