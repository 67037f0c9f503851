"""Markup kept out of the way of Markdown, search and glossary stands in the page in the end."""

from macros import blocks


def test_markdown_sees_comments_search_sees_lists_and_the_page_has_all() -> None:
    details = blocks.keep("<details>inner</details>", unread=True)
    listing = blocks.keep(f"<section>outer {details}</section>")
    source = f"before {listing} between {blocks.keep('<svg/>', unread=True)} after"
    assert "outer" not in source
    assert "inner" not in source

    read = blocks.fill_read(source)
    assert read.startswith("before <section>outer <!--")
    assert "inner" not in read
    assert "<svg/>" not in read

    whole = "before <section>outer <details>inner</details></section> between <svg/> after"
    assert blocks.fill(source) == whole
    assert blocks.fill(read) == whole


def test_late_markup_is_made_when_the_page_is_finished() -> None:
    made: list[str] = []
    chart = blocks.keep(f"<figure>{blocks.keep_late(lambda: made.append('now') or '<svg/>')}</figure>", unread=True)
    assert "<figure><!--late" in blocks.fill(chart)
    assert made == []
    assert blocks.finish(chart) == "<figure><svg/></figure>"
    assert blocks.finish("<!--late 999999-->") == "<!--late 999999-->"


def test_a_comment_that_stands_for_nothing_stays() -> None:
    for comment in ("<!--block of flats-->", "<!--block 0123456789abcdef-->", "<!--unread 0123456789abcdef-->"):
        assert blocks.fill(f"a {comment} b") == f"a {comment} b"
