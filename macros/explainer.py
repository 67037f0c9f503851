"""The site for readers without a browser: the explainer as plain Markdown, llms.txt and robots.txt."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html.parser import HTMLParser
from urllib.parse import urljoin

from macros import quotes, social
from macros.figures import Figure
from macros.locale import locale
from macros.markup import NBSP
from macros.metadata import address
from macros.render import Renderer
from macros.settings import Settings
from macros.site import Site
from macros.state import Rendered
from macros.vocabulary import LANGUAGES

_ATTRIBUTES = re.compile(r" *\{ [#.][^}\n]*\}")
_CODE = re.compile(r"(^```.*?^```|`[^`\n]+`)", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(?<=\]\()(?!https?:)([^)\s]+)(?=\))")


def markdown(page: Rendered, settings: Settings) -> str:
    """A page's Markdown with its HTML turned into Markdown: figures as links, charts as pictures. Marks stay."""
    home = address(settings, page.language, page.path)
    pieces = _CODE.split(page.markdown)
    for index in range(0, len(pieces), 2):
        bare = _ATTRIBUTES.sub("", pieces[index])
        bare = _LINK.sub(lambda m: urljoin(home, m[1].replace("index.md", "").replace(".md", "/")), bare)
        pieces[index] = bare
    parser = _Plain(home, page.language, settings)
    # Code is kept from the parser, which would take its angle brackets for tags.
    parser.feed("".join(piece if index % 2 == 0 else f"\x02{index}\x03" for index, piece in enumerate(pieces)))
    parser.close()
    text = re.sub("\x02(\\d+)\x03", lambda m: pieces[int(m[1])], "".join(parser.out))
    text = re.sub(r"[ \t]+\n", "\n", text.replace(NBSP, " "))
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


# What every quotation says beside its value anyway.
_BESIDE = ("span", "spread", "gain_rounding")


class _Plain(HTMLParser):
    """Collects Markdown; what stands inside a chart is left out but for its picture and caption."""

    def __init__(self, home: str, language: str, settings: Settings) -> None:
        super().__init__()
        self.home, self.language, self.settings = home, language, settings
        self.out: list[str] = []
        self.links: list[str] = []
        self.chart: str | None = None
        self.kept: str | None = None
        self.alternative = ""
        self.math = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "figure":
            self.chart, self.alternative = (given.get("id") or "").removeprefix("chart-"), ""
        elif self.chart is not None:
            if tag == "figcaption":
                self._picture()
            if tag == "a" and self.kept == "caption":
                self.kept = None  # the links to the chart's files; the picture is one of them
            hidden = tag == "p" and given.get("class") == "visually-hidden"
            self.kept = "alternative" if hidden else "caption" if tag == "figcaption" else self.kept
            if tag == "svg" and not self.alternative:
                self.alternative = given.get("aria-label") or ""
        elif tag == "math":
            self.math += 1
            self.out.append(given.get("aria-label") or "")
        elif self.math:
            pass
        elif tag == "a":
            self.links.append(urljoin(self.home, given.get("href") or ""))
            self.out.append("[")
        else:
            self.out.append({"s": "~~", "code": "`", "li": "\n- ", "summary": "\n\n**", "br": "\n"}.get(tag, ""))

    def handle_endtag(self, tag: str) -> None:
        if tag == "figure":
            self.chart = None
            self.out.append("\n\n")
        elif self.chart is not None:
            self.kept = None if tag in ("p", "figcaption") else self.kept
        elif tag == "math":
            self.math -= 1
        elif self.math:
            pass
        elif tag == "a" and self.links:
            self.out.append(f"]({self.links.pop()})")
        else:
            self.out.append({"s": "~~", "code": "`", "summary": "**\n"}.get(tag, ""))

    def handle_data(self, data: str) -> None:
        if self.chart is not None:
            if self.kept == "alternative":
                self.alternative += data
            elif self.kept == "caption":
                self.out.append(data)
        elif not self.math:
            self.out.append(data)

    def _picture(self) -> None:
        """The chart's file, or, for a drawing that has none, its description."""
        if self.chart:
            file = f"{self.settings.address}charts/{self.chart}.{self.language}.png"
            self.out.append(f"![{self.alternative}]({file})\n\n")
        else:
            self.out.append(f"{self.alternative} ")


def llms(pages: Iterable[Rendered], site: Site, settings: Settings) -> str:
    """llms.txt: what the site is, its main figures as sentences to quote, its pages in both languages, its data."""
    words = locale("en")
    known = sorted(pages, key=lambda page: (page.language != "en", page.path))
    homes = {page.language: page for page in known if page.path == ""}
    lines = [f"# {homes['en'].site_name if 'en' in homes else words.word('dataset.name')}", ""]
    lines += [f"> {words.word('dataset.description')}", "", words.word("llms.quote")]
    for language in LANGUAGES:
        renderer = Renderer(site, language, "")
        lines += ["", f"## {locale(language).word('llms.figures')}", ""]
        lines += [f"- {quotes.plain(figure, renderer, settings.address)}" for figure in _main(site)]
        lines += ["", f"## {locale(language).word('llms.pages')}", ""]
        for page in known:
            if page.language == language:
                target = address(settings, language, page.path)
                lines.append(f"- [{page.title}]({target}): {' '.join(page.description.split())}")
        if language in homes:
            target = address(settings, language, "index.md")
            lines.append(f"- [{locale(language).word('llms.markdown')}]({target})")
    lines += ["", f"## {words.word('llms.data')}", ""]
    for name in ("figures.json", "figures.csv", "runs.json", "published.json"):
        lines.append(f"- [data/{name}]({settings.address}data/{name}): {words.word(f'file.{name}')}")
    return "\n".join(lines) + "\n"


def _main(site: Site) -> list[Figure]:
    """The figures of the main chart, and what is computed from nothing else."""
    chart = site.charts.get(social.CHART)
    names = set(chart.printed) if chart else set()
    computed = {
        f.id
        for f in site.figures.values()
        if f.formula and f.formula.kind not in _BESIDE and f.formula.of and names.issuperset(f.formula.of)
    }
    return [figure for figure in site.figures.values() if figure.id in names | computed]


def robots(settings: Settings) -> str:
    """robots.txt: everybody may read everything; assistants are named since some ask for their own line."""
    names = "* GPTBot OAI-SearchBot ChatGPT-User ClaudeBot Claude-User PerplexityBot Google-Extended Applebot-Extended"
    groups = "\n".join(f"User-agent: {name}" for name in f"{names} CCBot YandexBot YandexAdditional".split())
    return f"{groups}\nAllow: /\n\nSitemap: {settings.address}sitemap.xml\n"
