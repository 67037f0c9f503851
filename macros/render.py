"""Figures, settings and statements as they stand on a page in one language."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from macros import manifests, printing
from macros.binding import bind
from macros.figures import Figure
from macros.locale import Locale, locale
from macros.manifests import Manifest, Source
from macros.markup import NBSP, element, text
from macros.numbers import short_count
from macros.site import Site
from macros.statements import Subject, verdict
from macros.vocabulary import Language

# Units that stand after the number, outside <data>; % and × belong to the number.
UNITS_AFTER = ("tok/s", "steps/s", "chunks/s", "s", "ms")


class PageError(Exception):
    """A page asks for something that the data cannot give; the message says what was expected."""


@dataclass(frozen=True)
class Renderer:
    """Renders for one page: its language, and the relative path from it to its language's root."""

    site: Site
    language: Language
    root: str

    @property
    def locale(self) -> Locale:
        return locale(self.language)

    @property
    def up(self) -> str:
        """The relative path to the site's root, where charts and data lie."""
        return self.root + ("" if self.language == "en" else "../")

    # Figures

    def get(self, figure_id: str, superseded: bool = False) -> Figure:
        figure = self.site.figures.get(figure_id)
        if figure is None:
            raise PageError(f"unknown figure {figure_id!r}")
        if figure.status != "current" and not superseded:
            hint = f"; its successor is {figure.superseded_by}" if figure.superseded_by else ""
            raise PageError(f"figure {figure_id!r} is {figure.status}{hint}: say superseded=True to show it as such")
        return figure

    def data(self, figure: Figure) -> str:
        """The bare <data> element."""
        printed = text(bind(printing.text(figure, self.locale)))
        value = printing.machine_value(figure)
        return f'<data class="figure" data-figure="{figure.id}" value="{value}">{printed}</data>'

    def unit(self, figure: Figure) -> str:
        return NBSP + self.locale.word(f"unit.{figure.unit}") if figure.unit in UNITS_AFTER else ""

    def linked(self, figure: Figure, unit: bool = True) -> str:
        """The figure with its unit, linked to its entry, with the essentials shown on hover and focus."""
        content = self.data(figure) + (self.unit(figure) if unit else "")
        if figure.status != "current":
            content = f"<s>{content}</s>"
        link = element("a", content, class_="figure", href=self.url(figure.id), data_note=self.note(figure))
        if figure.status == "current":
            return link
        return f'{link} <small class="status">({self.locale.word(figure.status)})</small>'

    def figure(self, figure_id: str, unit: bool = True, span: bool = False, superseded: bool = False) -> str:
        """A figure in running text; with `span`, the span of its runs beside it in smaller type."""
        figure = self.get(figure_id, superseded)
        result = self.linked(figure, unit)
        beside = self.site.span_of(figure_id) if span else None
        if span and beside is None:
            raise PageError(f"figure {figure_id!r} has no published span to stand beside it")
        if beside:
            result += f' <small class="span">({self.linked(beside, unit=False)})</small>'
        return result

    def plain(self, figure_id: str, unit: bool = False) -> str:
        """A figure as marked text, for titles, attributes and charts."""
        figure = self.get(figure_id, superseded=True)
        return bind(printing.text(figure, self.locale)) + (self.unit(figure) if unit else "")

    def heading(self, figure_id: str, unit: bool = True) -> str:
        """A figure in a heading: data without a link."""
        figure = self.get(figure_id)
        return self.data(figure) + (self.unit(figure) if unit else "")

    def times(self, figure_id: str, link: bool = True) -> str:
        """A factor as a counted word, «в 4 раза»: the word stands outside the data and agrees with it."""
        figure = self.get(figure_id)
        if figure.unit != "×" or figure.value is None:
            raise PageError(f"figure {figure_id!r} is not a factor")
        bare = printing.text(figure, self.locale).removesuffix("×")
        attributes = {"class_": "figure", "data_figure": figure.id, "value": printing.machine_value(figure)}
        content = element("data", text(bind(bare)), **attributes)
        if link:
            content = element("a", content, class_="figure", href=self.url(figure.id), data_note=self.note(figure))
        return f"{content}{NBSP}{self.times_word(bare)}"

    def times_word(self, bare: str) -> str:
        number = Decimal(bare)
        return self.locale.plural(int(number) if "." not in bare else float(number), "times")

    def url(self, figure_id: str) -> str:
        return f"{self.root}figures/#{figure_id}"

    def note(self, figure: Figure) -> str:
        """The essentials of a figure in one line of plain, marked text."""
        return " · ".join(part for part in self.essentials(figure) if part)

    def essentials(self, figure: Figure) -> list[str]:
        words = self.locale
        parts = [figure.statistic and words.name("statistic", figure.statistic)]
        parts.append(words.name("quantity", figure.quantity) if figure.quantity else None)
        vantage = figure.config.get("method.vantage")
        parts.append(words.name("vantage", vantage) if vantage else None)
        concurrency = figure.config.get("workload.concurrency")
        parts.append(f"c={bind(str(concurrency))}" if concurrency else None)
        profile = figure.config.get("workload.profile")
        parts.append(self.profile(profile) if profile else None)
        if figure.kind == "measured" and figure.value is not None:
            parts.append(self.spread(figure))
        if figure.kind != "derived":
            n = bind(str(figure.n)) if figure.n else words.word("not_published")
            parts.append(f"n{NBSP}{n}")
        if figure.evidence:
            parts.append(words.name("evidence", figure.evidence))
        if figure.status != "current":
            parts.insert(0, words.word(figure.status))
        return [part for part in parts if part]

    def spread(self, figure: Figure) -> str:
        """The span of the runs, or the spread published of them, or that none is."""
        span = printing.span_text(figure, self.locale)
        if span:
            return f"{self.locale.word('span_word')}{NBSP}{bind(span)}"
        beside = self.site.span_of(figure.id)
        if beside:
            return f"{self.locale.word('spread_word')}{NBSP}{bind(printing.text(beside, self.locale))}"
        return self.locale.word("spread_unknown")

    def counts(self, measurement: str) -> str:
        """What a formula over one measurement is made of: its verification steps and its seconds, marked."""
        run_id, _, name = measurement.partition("/")
        m = next(m for m in self.site.dataset.runs[run_id].measurements if m.id == name)
        return f"{bind(f'{m.drafts} / {m.seconds}')}{NBSP}{self.locale.word('unit.s')}"

    def source_name(self, source: Source) -> str:
        """A source's name, marked; translated where the locale knows it."""
        return bind(self.locale.known("source_name", source.name))

    def spreads(self, *figure_ids: str) -> str:
        """A sentence on the spread of several figures: that none is published, or each with its own."""
        figures = [self.get(figure_id) for figure_id in figure_ids]
        unknown = self.locale.word("spread_unknown")
        said = [self.spread(figure) for figure in figures]
        if set(said) == {unknown}:
            return text(self.locale.word("spreads_unknown"))
        each = "; ".join(f"{getattr(f.label, self.language)}: {s}" for f, s in zip(figures, said, strict=True))
        return text(f"{self.locale.word('spreads_known')} {each}.")

    def runs_of(self, figure_id: str) -> str:
        """How many runs a figure has, or that this is not published."""
        n = self.get(figure_id).n
        return text(bind(str(n)) if n else self.locale.word("not_published"))

    def acceptance(self, figure_id: str) -> str:
        """The acceptance length beside a figure, or that it is not published."""
        length = self.get(figure_id).acceptance_length
        return text(bind(printing.number(length, self.locale)) if length else self.locale.word("not_published"))

    def profile(self, profile: str) -> str:
        return bind(str(getattr(self.site.profiles[profile].label, self.language)))

    # Settings of manifests

    def setting_text(self, key: str, value: Any) -> str:
        """A setting's value in words, marked; `key` decides how it reads."""
        words = self.locale
        if value is None:
            return words.word("not_published")
        if isinstance(value, bool):
            return words.word("true_word" if value else "false_word")
        if isinstance(value, int | Decimal):
            return bind(printing.number(Decimal(value), words))
        group = {"method.vantage": "vantage", "method.window": "window", "workload.language": "language"}.get(key)
        group = "token_accounting" if key == "method.token_accounting" else group
        if group:
            return words.name(group, value)
        return self.profile(value) if key == "workload.profile" else bind(str(value))

    def setting(self, manifest_id: str, key: str, thousands: bool = False, short: bool = False) -> str:
        """One setting of a manifest in running text; with `thousands`, 4000 prints as 4K; `short` rounds to K or M."""
        manifest = self.manifest(manifest_id)
        try:
            value = manifests.setting(manifest, key)
        except KeyError:
            raise PageError(f"unknown setting {key!r} of {manifest_id!r}") from None
        printed = self.setting_text(key, value)
        if thousands:
            if not isinstance(value, int) or value % 1000:
                raise PageError(f"{key!r} of {manifest_id!r} is not a whole number of thousands")
            printed = bind(f"{value // 1000}K")
        if short:
            printed = bind(short_count(value))
        machine = "" if value is None else str(value)
        attributes = {"class_": "setting", "data_manifest": manifest_id, "data_key": key, "value": machine}
        content = text(printed)
        # What a log prints is set as code.
        return element("data", f"<code>{content}</code>" if "moe_backend" in key else content, **attributes)

    def changed(self, comparison_id: str) -> str:
        """The variant's value of the key that a comparison changes."""
        comparison = self.site.dataset.comparisons.get(comparison_id)
        if comparison is None:
            raise PageError(f"unknown comparison {comparison_id!r}")
        change = comparison.change
        printed = bind(change.variant) if change.variant else self.locale.word("not_stated")
        attributes = {"class_": "setting", "data_manifest": comparison_id, "data_key": "change.variant"}
        return element("data", text(printed), **attributes, value=change.variant or "")

    def manifest(self, manifest_id: str) -> Manifest:
        found = self.site.dataset.manifests.get(manifest_id)
        if found is None:
            raise PageError(f"unknown manifest {manifest_id!r}")
        return found

    def evidence(self, label: str) -> str:
        """An evidence label by its human name, with the code word and its meaning."""
        words = self.locale
        name, meaning = words.name("evidence", label), words.name("evidence_meaning", label)
        return f"{text(name)} (<code>{label}</code>: {text(meaning)})"

    def verdict(self, subject: Subject, a: str, b: str) -> str:
        """The verdict word that the data allows on the direction or the magnitude of a against b."""
        return text(self.locale.name("verdict", verdict(subject, self.get(a), self.get(b))))

    def fill(self, template: str) -> str:
        """A text of results/ with {figure-id} replaced by the figure, {figure-id:times} by the counted factor.

        {figure-id:concurrency} is the number of requests in flight that the figure was measured with.
        """

        def replace(match: re.Match[str]) -> str:
            if match[2] == ":concurrency":
                return self.setting_text("workload.concurrency", self.get(match[1]).config["workload.concurrency"])
            if match[2] == ":times":
                bare = printing.text(self.get(match[1]), self.locale).removesuffix("×")
                return f"{bind(bare)}{NBSP}{self.times_word(bare)}"
            return self.plain(match[1])

        return re.sub(r"\{([a-z0-9-]+)(:times|:concurrency)?\}", replace, template)
