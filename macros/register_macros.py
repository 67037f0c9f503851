"""The macros of the register's pages that print more than a few words, by name."""

from __future__ import annotations

from collections.abc import Callable

from macros import blocks, links, number_form, reasons, register, register_chart
from macros.render import Renderer
from macros.settings import Settings


def of(page: Callable[[], Renderer], settings: Settings) -> dict[str, Callable[..., str]]:
    """`page` gives the renderer of the page that calls."""
    return {
        "data_link": lambda name: links.data(page(), name),
        "reasons_list": lambda: blocks.keep(reasons.html(page())),
        "open_contradictions": lambda: reasons.open_questions(page()),
        "number_form": lambda: blocks.keep(number_form.html(page())),
        "figures_table": lambda: blocks.keep(number_form.figures_table(page())),
        "worths_table": lambda: blocks.keep(number_form.worths_table(page())),
        "checks_table": lambda: blocks.keep(number_form.checks_table(page())),
        "register_chart": lambda name: blocks.keep(register_chart.html(name, page()), unread=True),
        "register_controls": lambda: blocks.keep(register.controls(page()), unread=True),
        "register_table": lambda name: blocks.keep(register.table(name, page(), settings)),
    }
