"""Turn the SVG that matplotlib writes into a small one that a page can carry.

Only paths and texts are kept. Style attributes become presentation attributes, because the pages' content
security policy refuses inline styles. Fonts are left to the page, the pieces of a mark become one link, and lines
of one look become one path.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from lxml import etree

from macros.palette import as_variable

_NS = "http://www.w3.org/2000/svg"
_FILE_FONT = "'DejaVu Sans', Verdana, Arial, sans-serif"
_STYLES = {
    "fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap",
    "font-size", "font-weight", "text-anchor",
}  # fmt: skip
_BOX = re.compile(r"M[^A-Za-z]+(?:L[^A-Za-z]+){3}z")


@dataclass(frozen=True)
class Link:
    """What makes the pieces of one mark a link.

    `id` is unique in the page, `title` the accessible name, and `area` (x, y, width, height in user units)
    is made sensitive too, so that a thin whisker is easy to hit.
    """

    id: str
    figure: str
    href: str | None
    title: str
    area: tuple[float, float, float, float]


def inline_svg(raw: bytes, links: Sequence[Link], *, name: str, label: str) -> str:
    """Return a fragment for HTML whose colours are CSS variables; `name` is its class beside `chart-svg`."""
    root = _rebuild(raw, links)
    for node in root.iter():
        for key in ("fill", "stroke"):
            if colour := node.get(key):
                node.set(key, as_variable(colour))
    for key, value in {"class": f"chart-svg {name}", "role": "group", "aria-label": label}.items():
        root.set(key, value)
    return etree.tostring(root, encoding="unicode")


def svg_file(raw: bytes, links: Sequence[Link], *, title: str, lang: str) -> bytes:
    """Return a standalone file in light colours."""
    root = _rebuild(raw, links)
    root.set("font-family", _FILE_FONT)
    root.set("{http://www.w3.org/XML/1998/namespace}lang", lang)
    head = etree.Element(f"{{{_NS}}}title")
    head.text = title
    root.insert(0, head)
    return etree.tostring(root, encoding="utf-8", xml_declaration=True) + b"\n"


def _rebuild(raw: bytes, links: Sequence[Link]) -> etree._Element:
    source = etree.fromstring(raw)
    box = source.get("viewBox", "")
    width, height = box.split()[2:]
    root = etree.fromstring(f'<svg xmlns="{_NS}"/>')
    for key, value in {"viewBox": box, "width": width, "height": height, "stroke-linejoin": "round"}.items():
        root.set(key, value)
    anchors: dict[int, etree._Element] = {}
    for node in source.iter(f"{{{_NS}}}path", f"{{{_NS}}}text"):
        if "stroke:" not in node.get("style", "") and "fill: none" in node.get("style", ""):
            continue  # the sheet of a clear drawing
        parent, struck = root, False
        if found := _mark_of(node):
            index, struck = found
            if index not in anchors:
                anchors[index] = _anchor(root, links[index])
            parent = anchors[index]
        _copy(node, parent, struck=struck)
    return root


def _mark_of(node: etree._Element) -> tuple[int, bool] | None:
    """Return the number of the mark that a piece belongs to and whether it is struck through."""
    for group in node.iterancestors():
        if found := re.fullmatch(r"(mark|struck)-(\d+)", group.get("id", "")):
            return int(found[2]), found[1] == "struck"
    return None


def _anchor(root: etree._Element, link: Link) -> etree._Element:
    anchor = etree.SubElement(root, f"{{{_NS}}}{'a' if link.href else 'g'}", id=link.id)
    anchor.set("data-figure", link.figure)
    if link.href:
        anchor.set("href", link.href)
    etree.SubElement(anchor, f"{{{_NS}}}title").text = link.title
    sizes = dict(zip(("x", "y", "width", "height"), (f"{value:g}" for value in link.area), strict=True))
    etree.SubElement(anchor, f"{{{_NS}}}rect", {**sizes, "fill": "none", "pointer-events": "all"})
    return anchor


def _copy(node: etree._Element, parent: etree._Element, *, struck: bool) -> None:
    copy = etree.Element(node.tag)
    for key in ("d", "x", "y"):
        if numbers := node.get(key):
            copy.set(key, _short(numbers))
    for item in filter(None, node.get("style", "").split(";")):
        key, value = (part.strip() for part in item.split(":", 1))
        if key in _STYLES and (key, value) != ("text-anchor", "start"):
            copy.set(key, value.removesuffix("px"))
    if node.tag.endswith("text"):
        copy.text = node.text
        if struck:
            copy.set("text-decoration", "line-through")
    if len(parent) and _looks_the_same_joined(parent[-1], copy):
        parent[-1].set("d", f"{parent[-1].get('d')}{copy.get('d')}")
    else:
        parent.append(copy)


def _looks_the_same_joined(last: etree._Element, path: etree._Element) -> bool:
    """Say whether two paths may become one: lines without a fill, or boxes without a line, that look alike."""
    look, last_look = ({key: value for key, value in p.attrib.items() if key != "d"} for p in (path, last))
    if last.tag != path.tag or look != last_look:
        return False
    shape = path.get("d", "")
    return bool(shape) and (look.get("fill") == "none" or ("stroke" not in look and bool(_BOX.fullmatch(shape))))


def _short(numbers: str) -> str:
    """Round the numbers of a path to a tenth of a unit and write it without needless blanks."""
    text = re.sub(r"-?\d+\.\d+", lambda number: f"{round(float(number[0]), 1):g}", numbers)
    return re.sub(r"\s*([A-Za-z])\s*", r"\1", " ".join(text.split()))
