"""The rules for the built book's files can fail: each planted fault is named."""

import pytest

import site_rules


@pytest.fixture
def html(tmp_path):
    (tmp_path / "a.html").write_text("<p id='here'></p>")
    (tmp_path / "data.csv").write_text("1")
    (tmp_path / "_static").mkdir()
    (tmp_path / "_static" / "template.html").write_text("{{ title }}")
    (tmp_path / "index.html").write_text('<meta http-equiv="Refresh" content="0; url=a.html" />')
    return tmp_path


def test_pages_are_neither_templates_nor_redirects(html):
    assert site_rules.pages(html) == ["a.html"]


@pytest.mark.parametrize("link", ["#", "#here", "a.html#here", "data.csv", "https://example.org/#x", "data.csv?a=1#b"])
def test_sound_links(html, link):
    assert site_rules.link_faults({"a.html": ([link], {"here"})}, html) == []


@pytest.mark.parametrize(
    ("link", "named"),
    [
        ("#there", "no place in a.html"),
        ("a.html#there", "no place in a.html"),
        ("b.html", "no file"),
        ("_static", "no file"),
        ("http://example.org", "https"),
        ("//example.org/a", "https"),
        ("javascript:void(0)", "https"),
    ],
)
def test_broken_links(html, link, named):
    (fault,) = site_rules.link_faults({"a.html": ([link], {"here"})}, html)
    assert named in fault and fault.startswith("a.html: ")


@pytest.mark.parametrize(
    "tag",
    [
        '<script src="https://cdn.example.org/require.js"></script>',
        '<script src="//cdn.example.org/require.js"></script>',
        '<link rel="stylesheet" href="https://cdn.example.org/a.css">',
        '<link rel="dns-prefetch" href="//cdn.example.org">',
        '<img srcset="a.png 1x, https://cdn.example.org/b.png 2x">',
        '<iframe src="http://cdn.example.org"></iframe>',
        '<style>@import "https://cdn.example.org/a.css";</style>',
        '<p style="background: url(https://cdn.example.org/a.png)"></p>',
    ],
)
def test_what_is_loaded_from_elsewhere(html, tag):
    (html / "a.html").write_text(tag)
    (fault,) = site_rules.outside_faults(html)
    assert "cdn.example.org" in fault and fault.startswith("a.html: ")


def test_a_font_from_elsewhere(html):
    (html / "a.css").write_text("@font-face { src: url('https://cdn.example.org/a.woff2') }")
    assert site_rules.outside_faults(html) == ["a.css: https://cdn.example.org/a.woff2"]


def test_what_is_not_loaded(html):
    (html / "a.html").write_text(
        '<link rel="canonical" href="https://example.org"><a href="https://example.org">A</a><img src="data:,//a">'
        '<img src="https.png"><script src="../_static/a.js"></script>'
    )
    assert site_rules.outside_faults(html) == []
