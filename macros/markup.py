"""Small, safe pieces of HTML. Text from data is inert: neither markup, nor Markdown, nor a template."""

from __future__ import annotations

import re

NBSP = "\u00a0"
# HTML, Markdown and templates read these; as entities they are only characters. HTML itself reads the first five.
_SPECIAL = re.compile(r"[&<>\"'\\`*_{}\[\]()#+!|~^$=@]")
# Inside a tag fewer are read, so that addresses stay legible in the source.
_SPECIAL_IN_TAG = re.compile(r"[&<>\"'\\`*_{}\[\]]")
# A script knows no entities.
_NEEDLESS = re.compile(
    rf"(<script\b.*?</script>)|(?<!&)&#({'|'.join(str(ord(c)) for c in '`*_{}[]()#+!|~^$=@' + chr(92))});", re.DOTALL
)


def text(value: str) -> str:
    """Text for an element's content, inside Markdown."""
    return _inert(_SPECIAL, value)


def _inert(special: re.Pattern[str], value: str) -> str:
    return special.sub(lambda m: f"&#{ord(m.group())};", " ".join(value.split("\n")))


def written_out(page: str) -> str:
    """A finished page, which only HTML reads, with fewer entities: shorter, and legible in its source."""
    return _NEEDLESS.sub(lambda found: found[1] or chr(int(found[2])), page)


def element(tag: str, content: str, **attributes: str | None) -> str:
    """An element; `content` is markup already, attribute values are text. `class_` stands for class."""
    return f"<{tag}{attrs(attributes)}>{content}</{tag}>"


def attrs(attributes: dict[str, str | None]) -> str:
    """Attributes in the order given; None leaves one out, underscores become hyphens."""
    return "".join(
        f' {name.rstrip("_").replace("_", "-")}="{_inert(_SPECIAL_IN_TAG, value)}"'
        for name, value in attributes.items()
        if value is not None
    )


def table(head: list[str], rows: list[list[str]], label: str | None = None) -> str:
    """A table whose cells are markup. Cells carry their head's text, so that rows can stack on a phone."""
    heads = "".join(f'<th scope="col">{cell}</th>' for cell in head)
    plain = [re.sub(r"<[^>]+>", "", cell) for cell in head]
    body = "".join(
        "<tr>"
        + "".join(
            f'<th scope="row">{cell}</th>' if i == 0 else f'<td data-head="{plain[i]}">{cell}</td>'
            for i, cell in enumerate(row)
        )
        + "</tr>"
        for row in rows
    )
    inner = f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"
    if label is None:
        return inner
    return f'<div class="table" role="region" tabindex="0" aria-label="{text(label)}">{inner}</div>'
