"""A fixed sample of `make mutate`: one mistake of each kind, which the build or the independent reader must notice."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import mutate

# Where more than one mistake of a kind is possible, this one is made.
SEED = 3


@pytest.fixture(scope="module")
def drawn() -> dict[str, mutate.Mutant]:
    return {mutant.kind: mutant for mutant in mutate.draw(mutate.read_sources(mutate.ROOT), SEED, 1)}


@pytest.fixture
def copied(site: Path, tmp_path: Path) -> Path:
    return mutate.copy_project(tmp_path / "tree", site.parent / ".cache")


@pytest.mark.parametrize("kind", mutate.KINDS)
def test_a_mistake_is_noticed(kind: str, drawn: dict[str, mutate.Mutant], copied: Path) -> None:
    verdict = mutate.judge(drawn[kind], copied)
    assert verdict.outcome in ("stopped", "shown"), f"{verdict.why}\n{drawn[kind].diff()}"


def test_every_kind_has_places_enough_and_the_whole_run_has_its_number() -> None:
    """At least fifteen mistakes of each kind, two hundred in all, none of them without an effect on its file."""
    mutants = mutate.draw(mutate.read_sources(mutate.ROOT), 1, mutate.EACH)
    for kind in mutate.KINDS:
        assert sum(m.kind == kind for m in mutants) >= 15, kind
    assert len(mutants) >= 200
    assert all(m.before != m.after for m in mutants)


def test_a_mistake_that_nothing_notices_is_told_as_survived(copied: Path) -> None:
    """The judge can say no: a word more in a page is no mistake that a gate could see."""
    before = (copied / "docs/glossary.md").read_text("utf-8")
    harmless = mutate.Mutant("a digit in a page", "docs/glossary.md", before, before.rstrip() + " Read on.\n")
    assert mutate.judge(harmless, copied).outcome == "survived"


def test_the_same_seed_draws_the_same_mistakes() -> None:
    sources = mutate.read_sources(mutate.ROOT)
    assert mutate.draw(sources, 7, 2) == mutate.draw(sources, 7, 2)
    assert mutate.draw(sources, 7, 2) != mutate.draw(sources, 8, 2)
