"""Long pages hold pauses, and nothing else changes."""

from __future__ import annotations

import re
from pathlib import Path

import hypothesis.strategies as st
from hypothesis import given

from macros import pauses

EMPTY = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="  # SHA-256 of nothing
LINK = "<p><a href='x'>y</a></p>"  # two elements


def test_a_pause_stands_in_the_first_link_after_a_hundred_elements() -> None:
    page = f"<body>{LINK * 99}<article>{LINK * 120}</article>"
    # The fiftieth link is the hundredth element; it is the place.
    link = LINK.replace("</a>", "<script></script></a>")
    assert pauses.with_pauses(page) == f"<body>{LINK * 99}<article>{(LINK * 49 + link) * 2}{LINK * 20}</article>"


def test_no_pause_stands_within_a_script_or_where_no_link_or_code_ends() -> None:
    script = '<script type="application/json">"<b></a>"</script>'
    page = f"<article>{'<br>' * 150}{script}<p>x</p><A href='y'>z</a>"
    assert pauses.with_pauses(page) == page.replace("z</a>", "z<script></script></a>")


PIECES = st.sampled_from(
    ["<p>", "</p>", "<a>", "</a>", "</code>", "<a", "text", "<script>", "</script>", "<article>", "</", "A>"]
)


@given(st.lists(PIECES, max_size=30), st.integers(1, 9))
def test_but_for_pauses_a_page_stays_the_same(pieces: list[str], times: int) -> None:
    page = "".join(pieces) * (times * 20)
    assert pauses.with_pauses(page).replace(pauses.PAUSE, "") == page.replace(pauses.PAUSE, "")


def test_no_long_page_is_read_in_one_go(site: Path) -> None:
    for path in site.rglob("*.html"):
        page = path.read_text("utf-8")
        stretches = page.partition("<article")[2].split("<script></script>")
        assert max(len(re.findall("<[a-z]", stretch)) for stretch in stretches) < 300, path
        assert EMPTY not in page, "a pause needs no leave"
