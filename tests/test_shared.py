"""The shared fixtures themselves: a copy is whole and separate, and an edit that changes nothing is an error."""

from __future__ import annotations

import pytest

from tests.conftest import ROOT, Tree


def test_a_copy_is_in_order_and_separate_from_the_project(tree: Tree) -> None:
    before = (ROOT / "results/runs/heavy-c1.yaml").read_bytes()
    assert tree.check().ok
    tree.edit("results/runs/heavy-c1.yaml", "value: 43.7", "value: fast")
    outcome = tree.check()
    assert not outcome.ok
    assert "heavy-c1.yaml" in outcome.output
    assert (ROOT / "results/runs/heavy-c1.yaml").read_bytes() == before


def test_an_edit_that_finds_nothing_is_an_error(tree: Tree) -> None:
    with pytest.raises(AssertionError, match="does not occur"):
        tree.edit("docs/index.md", "no such words stand here", "")
