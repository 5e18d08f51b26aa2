"""How texts are put for a reader: on one line, as a sentence, in a list."""

from collections.abc import Iterable


def one_line(text: str) -> str:
    return " ".join(text.split())


def ended(text: str) -> str:
    """`text` on one line, with a full stop at the end."""
    text = one_line(text)
    return text + ("" if text.endswith((".", "!", "?")) else ".")


def sentence(text: str) -> str:
    """`text` on one line, with a capital first and a full stop at the end."""
    text = ended(text)
    return text[:1].upper() + text[1:]


def listed(words: Iterable[str]) -> str:
    """One word or more, such as "a, b and c"."""
    *others, last = words
    return f"{', '.join(others)} and {last}" if others else last
