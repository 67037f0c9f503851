"""The macros that print a few words of the data: on built pages, and wherever a sentence is read without a build."""

from __future__ import annotations

from collections.abc import Callable

from macros import reasons, register
from macros.markup import text
from macros.render import Renderer


def macros(page: Callable[[], Renderer]) -> dict[str, Callable[..., str]]:
    """By name; `page` gives the renderer of the page that calls."""
    return {
        "figure": lambda *a, **k: page().figure(*a, **k),
        "heading": lambda *a, **k: page().heading(*a, **k),
        "plain": lambda *a, **k: page().plain(*a, **k),
        "setting": lambda *a, **k: page().setting(*a, **k),
        "evidence": lambda *a, **k: page().evidence(*a, **k),
        "spread": lambda figure_id: text(page().spread(page().get(figure_id))),
        "spreads": lambda *a: page().spreads(*a),
        "runs_of": lambda figure_id: page().runs_of(figure_id),
        "acceptance": lambda figure_id: page().acceptance(figure_id),
        "verdict": lambda *a, **k: page().verdict(*a, **k),
        "times": lambda *a, **k: page().times(*a, **k),
        "changed": lambda comparison_id: page().changed(comparison_id),
        "word": lambda key: text(page().locale.word(key)),
        "published": lambda entry_id: reasons.published(page(), entry_id),
        "register_count": lambda name: register.count(name, page()),
    }
