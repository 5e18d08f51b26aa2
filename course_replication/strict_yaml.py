"""YAML as claims and settings are written in: a key that comes twice is an error."""

from collections.abc import Hashable

import yaml


def load_strictly(text: str):
    """What the YAML says; a ValueError where a key comes twice in a mapping, of which otherwise the last would win."""
    return yaml.load(text, Loader=_UniqueKeys)


class _UniqueKeys(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    def construct_mapping(self, node, deep=False):
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        for place, key in enumerate(keys):
            if not isinstance(key, Hashable) or key in keys[:place]:
                raise ValueError(f"the key {key!r} comes twice in one mapping, {node.start_mark}")
        return super().construct_mapping(node, deep)
