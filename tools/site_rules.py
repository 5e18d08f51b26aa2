"""What is asked of the built book as a set of files: its links lead somewhere, and nothing is loaded from elsewhere."""

import os
import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

from bs4 import BeautifulSoup

# Kinds of <link> for which a browser sends a request, or prepares one; others, such as rel="canonical", only inform.
LOADING = {"stylesheet", "icon", "preload", "prefetch", "modulepreload", "preconnect", "dns-prefetch", "manifest"}
SOURCES = ("src", "poster", "data", "background")
ELSEWHERE = re.compile(r"\s*((?:https?:)?//\S+)", re.IGNORECASE)
STYLE_ELSEWHERE = re.compile(r"""(?:url\(|@import)\s*["']?\s*((?:https?:)?//[^"')\s;]+)""", re.IGNORECASE)
REDIRECT = re.compile(r"""<meta[^>]*http-equiv=["']?refresh""", re.IGNORECASE)


def pages(html: Path) -> list[str]:
    """The book's pages as paths within the folder `html`; a file that only leads on to another page is none."""
    found = []
    for path in sorted(html.rglob("*.html")):
        name = path.relative_to(html).as_posix()
        # _static holds templates of the theme whose names end like a page's.
        if not name.startswith("_static/") and not REDIRECT.search(path.read_text(encoding="utf-8")):
            found.append(name)
    return found


def read(html: Path) -> dict[str, tuple[list[str], set[str]]]:
    """The pages' own files, read without a browser: what `link_faults` wants, scripts and pictures with the links."""
    found = {}
    for page in pages(html):
        soup = BeautifulSoup((html / page).read_text(encoding="utf-8"), "html.parser")
        links = [tag["href"] for tag in soup.find_all(href=True)] + [tag["src"] for tag in soup.find_all(src=True)]
        links = [link for link in links if not link.startswith("data:")]
        found[page] = (links, {tag["id"] for tag in soup.find_all(id=True)})
    return found


def link_faults(opened: dict[str, tuple[list[str], set[str]]], html: Path) -> list[str]:
    """Links that lead to no file, to no place in a page, or out of the book other than by https.

    opened : for each page of the folder `html` its links, and the names of the places in it.
    """
    found = []
    for page, (links, _) in opened.items():
        for link in dict.fromkeys(links):
            target = urlsplit(link)
            if target.scheme or target.netloc:
                if target.scheme != "https":
                    found.append(f"{page}: {link} does not begin with https")
                continue
            file = (html / page).parent / unquote(target.path) if target.path else html / page
            name = Path(os.path.relpath(file, html)).as_posix()
            if not file.is_file():
                found.append(f"{page}: {link} leads to no file")
            elif target.fragment and name in opened and unquote(target.fragment) not in opened[name][1]:
                found.append(f"{page}: {link} leads to no place in {name}")
    return found


def _loads(tag) -> list[str]:
    """The addresses outside the book that an element makes a browser ask for."""
    if tag.name == "link":
        sources = [tag.get("href", "")] if LOADING & set(tag.get("rel", [])) else []
    elif tag.name == "style":
        return STYLE_ELSEWHERE.findall(tag.get_text())
    else:
        sources = [tag[name] for name in SOURCES if tag.get(name)] + tag.get("srcset", "").split(", ")
    found = [match[1] for match in map(ELSEWHERE.match, sources) if match]
    return found + STYLE_ELSEWHERE.findall(tag.get("style", ""))


def outside_faults(html: Path) -> list[str]:
    """Scripts, style sheets, pictures, fonts and frames of any page that are fetched from outside the book.

    Unlike a visit with the network blocked, this also sees what only some browsers, or only some readers, would fetch.
    """
    found = []
    for path in sorted(html.rglob("*.html")):
        soup = BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")
        found += [f"{path.relative_to(html).as_posix()}: {each}" for tag in soup.find_all(True) for each in _loads(tag)]
    for path in sorted(html.rglob("*.css")):
        style = path.read_text(encoding="utf-8")
        found += [f"{path.relative_to(html).as_posix()}: {each}" for each in STYLE_ELSEWHERE.findall(style)]
    return found
