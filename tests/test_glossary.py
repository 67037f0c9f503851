"""The glossary page, and the notes at the first use of a term: in prose, once, in both languages."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from lxml import html

from macros import site as core
from macros.binding import bind, statement
from macros.glossary import Entry, explain

ROOT = Path(__file__).parents[1]
# The terms that the pages must explain; names among them stand for nothing.
NAMES = ("dgx", "vllm", "mlx", "gb10", "dspark", "b12x", "deepgemm")
ABBREVIATIONS = {
    "sm": "streaming multiprocessor",
    "qsfp": "quad small form-factor pluggable",
    "roce": "RDMA over Converged Ethernet, version 2",
    "tp": "tensor parallelism",
    "moe": "mixture of experts",
    "sse": "server-sent events",
    "nccl": "NVIDIA Collective Communications Library",
    "kv-cache": "key–value cache",
    "ttft": "time to first token",
    "e2e": "end to end",
    "cbrn": "chemical, biological, radiological, nuclear",
    "rlhf": "reinforcement learning from human feedback",
    "cv": "coefficient of variation",
}


@pytest.fixture(scope="module")
def entries() -> Mapping[str, Entry]:
    return core.load(ROOT / "results").glossary


def test_abbreviations_are_expanded_and_names_are_not(entries: Mapping[str, Entry]) -> None:
    for name, words in ABBREVIATIONS.items():
        assert entries[name].stands_for == words
    for name in NAMES:
        assert entries[name].stands_for is None, name


def note(entries: Mapping[str, Entry], text: str) -> str:
    return explain(text, entries, "en", "../")


def test_a_note_is_a_link_that_explains_itself(entries: Mapping[str, Entry]) -> None:
    result = html.fromstring(note(entries, "<p>A MoE layer, and another MoE layer.</p>"))
    (link,) = result.iter("a")
    assert (link.text, link.get("class"), link.get("href")) == ("MoE", "term", "../glossary/#moe")
    assert "Mixture of experts" in link.get("data-note", "")


@pytest.mark.parametrize(
    "text",
    [
        "<h2>MoE</h2>",
        "<p><code>MoE</code></p>",
        '<p><a href="x">MoE</a></p>',
        '<figure class="chart"><figcaption>MoE</figcaption></figure>',
        "<table><tr><td>MoE</td></tr></table>",
        '<details class="statements"><ul><li>MoE</li></ul></details>',
        "<p>MoEs and aMoE and x-MoE</p>",
        f"<p>{bind('MoE')} {statement('moe')}</p>",
    ],
)
def test_what_is_no_prose_stays_as_it_is(entries: Mapping[str, Entry], text: str) -> None:
    assert note(entries, text) == text


def test_the_longest_term_wins_and_attributes_are_left_alone(entries: Mapping[str, Entry]) -> None:
    result = note(entries, '<p title="MoE">Speculative decoding: <br>speculative decoding, MXFP4.</p>')
    assert result.startswith('<p title="MoE">Speculative decoding: <br><a class="term"')
    assert ">speculative decoding</a>" in result
    assert ">MXFP4</a>" in result


@pytest.mark.parametrize(
    ("folder", "words"), [("", ("decode rate", "MoE")), ("ru/", ("скорость декодирования", "MoE"))]
)
def test_every_page_explains_a_term_once_and_leads_to_its_entry(
    site: Path, entries: Mapping[str, Entry], folder: str, words: tuple[str, ...]
) -> None:
    listed = html.parse(str(site / folder / "glossary/index.html")).getroot()
    anchors = {dt.get("id") for dt in listed.iter("dt")}
    assert set(entries) <= anchors
    for name in ("", "depth-curve/", "moe-backend/", "method/", "reproduce/"):
        tree = html.parse(str(site / folder / name / "index.html")).getroot()
        links = tree.find_class("term")
        targets = [str(link.get("href")).partition("#")[2] for link in links]
        assert len(set(targets)) == len(targets) >= 8, name
        assert set(targets) <= anchors
        for link in links:
            assert link.get("data-note"), name
            assert not {a.tag for a in link.iterancestors()} & {"h1", "h2", "h3", "code", "pre", "figure", "a"}, name
            # The relative address leads to the glossary of the same language.
            there = (site / folder / name / str(link.get("href")).partition("#")[0]).resolve()
            assert there == (site / folder / "glossary").resolve(), name
    front = html.parse(str(site / folder / "index.html")).getroot()
    assert set(words) <= {link.text for link in front.find_class("term")}
    assert not listed.find_class("term")
