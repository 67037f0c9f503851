"""The head's scripts above its stylesheets: a script waits for each one above it, and all text below for the script."""

import re

_SCRIPT = re.compile(r"<script>(?:(?!</script>).)*</script>\n?", re.DOTALL)
_STYLES = '<link rel="stylesheet"'


def first(page: str) -> str:
    """The page with its head's scripts, in their order, above the first stylesheet."""
    head, end, rest = page.partition("</head>")
    scripts = "".join(_SCRIPT.findall(head))
    return _SCRIPT.sub("", head).replace(_STYLES, scripts + _STYLES, 1) + end + rest
