"""Whether to show a progress bar."""

import os


def is_quiet() -> bool:
    """What the environment variable TQDM_DISABLE says; tqdm itself forgets it in notebooks."""
    return os.environ.get("TQDM_DISABLE", "") not in ("", "0")
