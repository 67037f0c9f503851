"""What to paste elsewhere to show a chart: HTML as Habr takes it, Markdown as GitHub does, with alternative text."""

from __future__ import annotations

from macros.listings import copyable
from macros.markup import text
from macros.render import Renderer


def html(link: str, picture: str, alternative: str, page: Renderer) -> str:
    """Both snippets behind a disclosure; `alternative` is marked text."""
    words = page.locale
    in_brackets = alternative.replace("[", "(").replace("]", ")")
    snippets = {
        "habr": f'<a href="{link}"><img src="{picture}" alt="{alternative.replace(chr(34), "&quot;")}"></a>',
        "github": f"[![{in_brackets}]({picture})]({link})",
    }
    parts = [f"<p>{text(words.word(f'share.{k}'))}</p>{copyable(v, 'snippet', page)}" for k, v in snippets.items()]
    return f'<details class="share"><summary>{text(words.word("share.chart"))}</summary>{"".join(parts)}</details>'
