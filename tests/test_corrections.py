"""Corrections: nothing is deleted, nothing superseded passes as current, chains end."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest
import yaml
from lxml import etree, html

from macros import clock, corrections, dataset, state
from macros.problems import InputError
from tests.conftest import BUILT, ROOT, Tree

ATOM = {"a": "http://www.w3.org/2005/Atom"}


@pytest.mark.parametrize(("folder", "unknown"), [("", "not published"), ("ru/", "не опубликовано")])
def test_the_first_entry_names_old_new_and_date(site: Path, folder: str, unknown: str) -> None:
    page = html.parse(str(site / folder / "corrections/index.html"))
    cells = [cell.text_content().replace("\u00a0", " ") for cell in page.xpath("//tbody/tr[1]/*")]
    assert "16–18%" in cells[1]
    assert "9–12%" in cells[2]
    assert cells[4] == unknown
    assert page.xpath('//tbody/tr[1]//s//data[@data-figure="step-gain-client"]')
    assert not page.xpath('//tbody/tr[1]//s//data[@data-figure="step-gain-engine"]')


@pytest.mark.parametrize("folder", ["", "ru/"])
def test_superseded_is_struck_wherever_shown(site: Path, folder: str) -> None:
    for path in ("index.html", "figures/index.html", "runs/index.html", "corrections/index.html"):
        page = html.parse(str(site / folder / path))
        for element in page.xpath('//data[@data-figure="step-gain-client"]'):
            assert element.xpath("ancestor::s"), path
    chart = (site / f"charts/vantages.{folder.rstrip('/') or 'en'}.svg").read_text("utf-8")
    assert 'text-decoration="line-through"' in chart


def test_superseded_as_current_stops_the_build(tree: Tree) -> None:
    call = 'figure("step-gain-client", superseded=True)'
    tree.edit("docs/index.md", call, 'figure("step-gain-client")')
    result = tree.build()
    assert not result.ok
    assert "docs/index.md" in result.output
    assert "step-gain-engine" in result.output
    assert not tree.site.exists()


@pytest.mark.parametrize(
    ("successor", "message"), [("step-gain-nobody", "the id of a manifest"), ("step-gain-client", "no circle")]
)
def test_chains_of_successors_end(tree: Tree, successor: str, message: str) -> None:
    tree.edit("results/comparisons/step-gain-client.yaml", "successor: step-gain-engine", f"successor: {successor}")
    with pytest.raises(InputError, match=message):
        dataset.load(tree.root / "results")


def test_a_longer_circle_is_found(tree: Tree) -> None:
    with (tree.root / "results/comparisons/step-gain-engine.yaml").open("a", encoding="utf-8") as file:
        file.write(
            "correction:\n  status: superseded\n  date: null\n  reason: { en: back, ru: назад }\n"
            "  successor: step-gain-client\n"
        )
    with pytest.raises(InputError, match="no circle"):
        dataset.load(tree.root / "results")


def test_a_superseded_run_enters_the_history(tree: Tree) -> None:
    """A run replaced by another of the same configuration: the value changes, the old one stays in the history."""
    old = tree.root / "results/runs/moe-auto.yaml"
    content = old.read_text("utf-8")
    new = content.replace("id: moe-auto\n", "id: moe-auto-again\n").replace("value: 59.7", "value: 59.8")
    (tree.root / "results/runs/moe-auto-again.yaml").write_text(new, "utf-8")
    correction = (
        "correction:\n  status: superseded\n  date: 2026-01-02\n  reason: { en: measured again, ru: измерили снова }\n"
        "  successor: moe-auto-again\n"
    )
    old.write_text(content + correction, "utf-8")
    site = state.load(tree.root)
    figure = site.figures["moe-auto-decode"]
    assert figure.value is not None
    assert float(figure.value.value) == 59.8
    assert [(p.manifest, p.reason) for p in figure.history] == [("moe-auto", "superseded")]
    first = corrections.entries(site)[0]
    assert first.manifest.id == "moe-auto"
    assert first.correction.date == datetime.date(2026, 1, 2)
    assert first.successor is not None
    assert first.successor.id == "moe-auto-decode"


def newest_date() -> datetime.date:
    """The newest date in the data: the time of a build outside git that is not told another."""
    files = (yaml.safe_load(path.read_text("utf-8")) for path in (ROOT / "results").glob("*/*.yaml"))
    return max(content["date"] for content in files if content["date"])


def test_the_time_of_a_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = state.load(ROOT)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1790000000")
    assert clock.built(tmp_path, site).isoformat() == "2026-09-21T14:13:20+00:00"
    monkeypatch.delenv("SOURCE_DATE_EPOCH")
    assert clock.built(tmp_path, site).date() == newest_date()


@pytest.mark.parametrize("folder", ["", "ru/"])
def test_feeds_are_atom_and_invent_no_date(site: Path, folder: str) -> None:
    feed = etree.parse(str(site / folder / "feed.xml"))
    built = datetime.datetime.fromtimestamp(int(BUILT), datetime.UTC).isoformat()
    assert feed.findtext("a:updated", namespaces=ATOM) == built
    known = {run.id: run.date for run in state.load(ROOT).dataset.runs.values()}
    ids = []
    for entry in feed.iterfind("a:entry", ATOM):
        address = entry.findtext("a:id", "", ATOM)
        ids.append(address)
        for name in ("title", "updated", "summary"):
            assert entry.findtext(f"a:{name}", "", ATOM)
        date = known.get(address.rpartition("#")[2])
        published = entry.findtext("a:published", namespaces=ATOM)
        assert (published is None) == (date is None)
        assert entry.findtext("a:updated", namespaces=ATOM) == (f"{date}T00:00:00+00:00" if date else built)
    assert len(ids) == len(set(ids))
    assert any("corrections/#step-gain-client" in i for i in ids)
