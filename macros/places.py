"""Where in a YAML text a value stands. A text is composed once, however many places are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import yaml


def place(text: str, path: Sequence[str | int]) -> tuple[int, int, str]:
    """Line and column (from 1) of the node at `path`, or of the deepest parent that exists, and its raw text."""
    return _places(text).at(path)


class _Places:
    def __init__(self, text: str) -> None:
        self._root = yaml.compose(text, Loader=yaml.CSafeLoader)
        self._known: dict[Any, dict[str | int, tuple[Any, Any]]] = {}

    def at(self, path: Sequence[str | int]) -> tuple[int, int, str]:
        node = self._root
        if node is None:
            return 0, 0, ""
        mark = node.start_mark
        for step in path:
            found = self._children(node).get(step)
            if found is None:
                break
            mark, node = found
        raw = node.value if isinstance(node, yaml.ScalarNode) else ""
        return mark.line + 1, mark.column + 1, raw

    def _children(self, node: Any) -> dict[str | int, tuple[Any, Any]]:
        """Mark and node of each entry by its key or number; looked up, since a node may have 100,000."""
        if node not in self._known:
            children: dict[str | int, tuple[Any, Any]] = {}
            if isinstance(node, yaml.MappingNode):
                children = {k.value: (k.start_mark, v) for k, v in node.value if isinstance(k, yaml.ScalarNode)}
            elif isinstance(node, yaml.SequenceNode):
                children = {index: (child.start_mark, child) for index, child in enumerate(node.value)}
            self._known[node] = children
        return self._known[node]


# One only: the problems of a file are explained together.
_places = lru_cache(maxsize=1)(_Places)
