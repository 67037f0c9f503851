"""A Content-Security-Policy in each page: only the site's own files, and the scripts and styles inside the page.

A meta tag, since the site may lie on a host whose headers nobody sets. `frame-ancestors` has no effect there.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

from lxml import html

from macros.problems import InputError, Problem

_META = '<meta charset="utf-8">'
# Inline scripts that run; data blocks have a type of their own.
SCRIPT = re.compile(r"<script(?![^>]*\s(?:src|type)=)[^>]*>(.*?)</script>", re.DOTALL)
# What the policy would refuse without a word to the author.
_REFUSED = re.compile(r"\s(?:style|on[a-z]+)\s*=|<style|java\s*script:", re.IGNORECASE)
# The page's own styles, in its head.
_STYLE = re.compile(r"<style>(.*?)</style>", re.DOTALL)


def add(site_dir: Path) -> None:
    """Writes the policy into every page, last of all: afterwards no script may change. Refuses what it would block."""
    problems: list[Problem] = []
    for path in sorted(site_dir.rglob("*.html")):
        page, name = path.read_text("utf-8"), path.relative_to(site_dir).as_posix()
        head, end, body = page.partition("</head>")
        written = _STYLE.sub("", head) + end + body
        if _REFUSED.search(written):
            problems += [Problem(name, 0, 0, "", "no inline styles or handlers", found) for found in _refused(written)]
        if _META not in page:
            problems.append(Problem(name, 0, 0, "", f"the tag {_META}", "none"))
        tag = f'<meta http-equiv="Content-Security-Policy" content="{policy(page)}">'
        path.write_text(page.replace(_META, _META + tag, 1), "utf-8")
    if problems:
        raise InputError(problems)


def policy(page: str) -> str:
    """The policy for a page's text, with the hash of each script in it and of the styles in its head."""
    # An empty script runs nothing and needs no leave.
    scripts = dict.fromkeys(_hash(match[1]) for match in SCRIPT.finditer(page) if match[1])
    styles = [_hash(match[1]) for match in _STYLE.finditer(page.partition("</head>")[0])]
    return "; ".join(
        [
            "default-src 'none'",
            " ".join(["script-src 'self'", *scripts]),
            " ".join(["style-src 'self'", *styles]),
            "img-src 'self' data:",
            "font-src 'self'",
            "connect-src 'self'",
            "worker-src 'self'",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _refused(page: str) -> Iterator[str]:
    """Inline styles, handlers and script addresses, as markup; the same letters in a text are only text."""
    for element in html.document_fromstring(page).iter():
        if not isinstance(element.tag, str):
            continue
        if element.tag == "style":
            yield "<style>"
        for name, value in ((str(k), str(v)) for k, v in element.attrib.items()):
            script = re.sub(r"[\x00-\x20]", "", value).lower().startswith("javascript:")
            if name == "style" or name.startswith("on") or (name in ("href", "src", "action", "formaction") and script):
                yield f'<{element.tag} {name}="{value[:60]}">'
