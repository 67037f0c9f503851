"""What a page says of itself to search engines, link previews and assistants: the tags of its head.

Addresses are absolute; an unset address means localhost. Texts are marked like everything that prints numbers.
"""

from __future__ import annotations

import json
from typing import Any

from macros import exports, social
from macros.binding import bind
from macros.markup import attrs
from macros.render import Renderer
from macros.settings import Settings
from macros.state import Rendered
from macros.vocabulary import LANGUAGES, Language

# Pages that are, or list, the data; the explainer is an article as well.
DATA_PAGES = ("", "figures/", "runs/", "data/")
TERRITORIES: dict[Language, str] = {"en": "en_US", "ru": "ru_RU"}
DISTRIBUTION = (
    ("data/figures.json", "application/json"),
    ("data/figures.csv", "text/csv"),
    ("data/runs.json", "application/json"),
    ("data/published.json", "application/json"),
)


def address(settings: Settings, language: Language, path: str) -> str:
    """The absolute address of a page; `path` is relative to the root of its language and empty for its home."""
    return f"{settings.address}{'' if language == 'en' else f'{language}/'}{path}"


def licence(name: str) -> str | None:
    """The address of a licence's text, from its SPDX name."""
    return f"https://spdx.org/licenses/{name}.html" if name else None


def head(rendered: Rendered, page: Renderer, settings: Settings) -> str:
    """All tags for a page's head but title, description and canonical, which the theme writes."""
    path, title, description = rendered.path, rendered.title, rendered.description
    here = address(settings, page.language, path)
    picture, alternative = social.address(page.language, settings), social.alternative(page)
    tags = [
        _tag("link", rel="alternate", hreflang=language, href=address(settings, language, path))
        for language in LANGUAGES
    ]
    tags.append(_tag("link", rel="alternate", hreflang="x-default", href=address(settings, "en", path)))
    feed = address(settings, page.language, "feed.xml")
    name = page.locale.word("feed.title")
    tags.append(_tag("link", rel="alternate", type="application/atom+xml", title=name, href=feed))
    graph = {
        "og:type": "article" if path == "" else "website",
        "og:site_name": rendered.site_name,
        "og:title": title,
        "og:description": description,
        "og:url": here,
        "og:locale": TERRITORIES[page.language],
        "og:image": picture,
        "og:image:type": "image/png",
        "og:image:width": str(social.WIDTH),
        "og:image:height": str(social.HEIGHT),
        "og:image:alt": alternative,
    }
    tags += [_tag("meta", property=key, content=value) for key, value in graph.items()]
    others = [TERRITORIES[language] for language in LANGUAGES if language != page.language]
    tags += [_tag("meta", property="og:locale:alternate", content=other) for other in others]
    card = {
        "twitter:card": "summary_large_image",
        "twitter:title": title,
        "twitter:description": description,
        "twitter:image": picture,
        "twitter:image:alt": alternative,
    }
    tags += [_tag("meta", name=key, content=value) for key, value in card.items()]
    if path in DATA_PAGES:
        tags.append(_json_ld(dataset(page, settings)))
    if path == "":
        tags.append(_json_ld(article(title, description, page, settings)))
    return "\n".join(tags)


def _tag(tag: str, **attributes: str | None) -> str:
    return f"<{tag}{attrs(attributes)}>"


def _json_ld(content: dict[str, Any]) -> str:
    written = json.dumps(content, ensure_ascii=False, indent=1).replace("<", "\\u003c")
    return f'<script type="application/ld+json">{written}</script>'


def _organisation(settings: Settings) -> dict[str, Any] | None:
    return {"@type": "Organization", "name": settings.publisher} if settings.publisher else None


def _known(content: dict[str, Any]) -> dict[str, Any]:
    """Without what is not set: an empty field is worse than none."""
    return {key: value for key, value in content.items() if value not in (None, "", [])}


def dataset(page: Renderer, settings: Settings) -> dict[str, Any]:
    """schema.org/Dataset: what is measured, how, under which licence, and where the files are."""
    words = page.locale
    figures = [f for f in page.site.figures.values() if f.quantity and f.status == "current"]
    measured = dict.fromkeys((f.quantity, f.unit) for f in figures if f.kind != "derived" and f.quantity)
    # A gain in a quantity is in per cent and is not that quantity.
    variables = [
        {
            "@type": "PropertyValue",
            "name": words.name("quantity", quantity)
            if unit != "%"
            else f"{words.word('gain_of')}: {words.name('quantity', quantity)}",
            "unitText": words.word(f"unit.{unit}"),
        }
        for quantity, unit in measured
    ]
    vantages = dict.fromkeys(f.config["method.vantage"] for f in figures if f.config.get("method.vantage"))
    return _known(
        {
            "@context": "https://schema.org",
            "@type": "Dataset",
            "@id": f"{settings.address}#dataset",
            "name": words.word("dataset.name"),
            "description": words.word("dataset.description"),
            "url": address(settings, page.language, "data/"),
            "inLanguage": page.language,
            "isAccessibleForFree": True,
            "license": licence(settings.licence_data),
            "creator": _organisation(settings),
            "version": str(exports.VERSION),
            "variableMeasured": variables,
            "measurementTechnique": [words.name("vantage", vantage) for vantage in vantages],
            "distribution": [
                {"@type": "DataDownload", "contentUrl": settings.address + file, "encodingFormat": kind}
                for file, kind in DISTRIBUTION
            ],
        }
    )


def article(title: str, description: str, page: Renderer, settings: Settings) -> dict[str, Any]:
    """schema.org/TechArticle for the explainer."""
    here = address(settings, page.language, "")
    return _known(
        {
            "@context": "https://schema.org",
            "@type": "TechArticle",
            "headline": title,
            "description": description,
            "inLanguage": page.language,
            "url": here,
            "mainEntityOfPage": here,
            "image": social.address(page.language, settings),
            "author": _organisation(settings),
            "publisher": _organisation(settings),
            "license": licence(settings.licence_data),
            "about": [bind(name) for name in dict.fromkeys(m.model.name for m in page.site.dataset.runs.values())],
            "isBasedOn": f"{settings.address}#dataset",
        }
    )
