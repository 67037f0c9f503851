"""Charts like those of the page, as input for the tests of the drawing core."""

from typing import Any

from macros.drawing import Chart, CurveChart, CurvePoint, DotChart, Mark, Row, Series

LANGS = ("en", "ru")


def examples(lang: str) -> dict[str, Chart]:
    """Return every example chart in one language by its id."""
    charts = (arms, prompt, vantage, concurrency, overview, crowded, depth)
    return {chart.id: chart for chart in (make(lang) for make in charts)}


def _say(lang: str, en: str, ru: str) -> str:
    return ru if lang == "ru" else en


def _mark(figure: str, value: float | None, low: float | None = None, high: float | None = None, **more: Any) -> Mark:
    label = more.pop("label", f"{value} tok/s")
    return Mark(figure, value, low, high, label, href=f"figures/#{figure}", **more)


def _footer(lang: str) -> tuple[str, ...]:
    return (
        _say(
            lang,
            "Whiskers: lowest and highest of n = 5 runs. Evidence: methodology v1. Data of 2026-07-14.",
            "Усы: наименьший и наибольший из n = 5 прогонов. Методика v1. Данные от 2026-07-14.",
        ),
        "https://example.org/spark-speeds/figures/#moe-gain",
    )


def _rate(lang: str) -> str:
    return _say(lang, "Decode speed of a single stream, tok/s", "Скорость генерации в одном потоке, tok/s")


def arms(lang: str) -> DotChart:
    rows = (
        Row("auto → DEEPGEMM_MXFP4", None, "backend", (_mark("moe-auto-decode", 59.7, 59.0, 60.1),)),
        Row("flashinfer_b12x", None, "backend", (_mark("moe-b12x-decode", 67.6, 62.6, 71.0),)),
    )
    title = _say(lang, "One flag: two MoE backends", "Один флаг: два бэкенда MoE")
    return DotChart("moe-arms", lang, title, _rate(lang), None, rows, footer=_footer(lang))


def prompt(lang: str) -> DotChart:
    unknown = _say(lang, "spread not published", "разброс не опубликован")
    rows = (
        Row(
            _say(lang, "code profile, single stream", "профиль кода, в один поток"), unknown, "prompt",
            (_mark("code-c1-decode", 65.5),),
        ),
        Row(
            _say(lang, "heavy profile, single stream", "тяжёлый профиль, в один поток"), unknown, "prompt",
            (_mark("heavy-c1-decode", 43.7),),
        ),
    )  # fmt: skip
    title = _say(lang, "One machine, two prompts", "Одна машина, два запроса")
    return DotChart("prompt-gap", lang, title, _rate(lang), None, rows, footer=_footer(lang))


def vantage(lang: str) -> DotChart:
    rows = (
        Row(
            _say(lang, "seen by the client", "глазами клиента"),
            _say(lang, "superseded", "заменено"), "vantage",
            (_mark("step-gain-client", None, 16, 18, label="16–18 %", style="superseded"),),
        ),
        Row(
            _say(lang, "seen inside the engine", "внутри движка"), None, "vantage",
            (_mark("step-gain-engine", None, 9, 12, label="9–12 %"),),
        ),
    )  # fmt: skip
    title = _say(lang, "The same gain from two vantage points", "Один прирост с двух точек наблюдения")
    axis = _say(lang, "Gain in decode speed, %", "Прирост скорости генерации, %")
    return DotChart("step-gain", lang, title, axis, None, rows, footer=_footer(lang))


def concurrency(lang: str) -> DotChart:
    rows = (
        Row(
            _say(lang, "one request", "один запрос"),
            _say(lang, "decode speed", "скорость генерации"), "concurrency",
            (_mark("code-c1-decode", 65.5),),
        ),
        Row(
            _say(lang, "12 requests at once", "12 запросов сразу"),
            _say(lang, "sum over all of them", "сумма по всем"), "concurrency",
            (_mark("code-c12-aggregate", 260.4),),
        ),
    )  # fmt: skip
    title = _say(lang, "One stream and twelve", "Один поток и двенадцать")
    axis = _say(lang, "Tokens per second, tok/s", "Токенов в секунду, tok/s")
    return DotChart("single-aggregate", lang, title, axis, None, rows, footer=_footer(lang))


def overview(lang: str) -> DotChart:
    rows = (
        Row(_say(lang, "MoE backend", "Бэкенд MoE"), None, "backend",
            (_mark("moe-auto-decode", 59.7, 59.0, 60.1, note="auto"),
             _mark("moe-b12x-decode", 67.6, 62.6, 71.0, note="B12X"))),
        Row(_say(lang, "Prompt", "Запрос"), None, "prompt",
            (_mark("code-c1-decode", 65.5, note=_say(lang, "code", "код")),
             _mark("heavy-c1-decode", 43.7, note=_say(lang, "heavy", "тяжёлый")))),
        Row(_say(lang, "Vantage point", "Точка наблюдения"),
            _say(lang, "changes the size of a gain: 16–18 % by the client, 9–12 % inside the engine",
                 "меняет размер прироста: 16–18 % глазами клиента, 9–12 % внутри движка"),
            "vantage", ()),
        Row(_say(lang, "Concurrency", "Параллельность"), None, "concurrency",
            (_mark("code-c1-decode", 65.5, note=_say(lang, "single stream", "один поток")),
             _mark("code-c12-aggregate", 260.4, edge=True,
                   label=_say(lang, "260.4 tok/s, 12 requests at once", "260.4 tok/s, 12 запросов сразу")))),
        Row(_say(lang, "Other", "Другое"), None, "other",
            (_mark("bringup-decode", 42.5, note=_say(lang, "first bring-up", "первый запуск")),
             _mark("model-card-claim", 57.0, label="57 tok/s", style="others",
                   note=_say(lang, "model card", "карточка модели")))),
    )  # fmt: skip
    title = _say(lang, "Every single-stream speed of this page on one axis", "Все скорости одного потока на одной оси")
    return DotChart("overview", lang, title, _rate(lang), None, rows, footer=_footer(lang))


def crowded(lang: str) -> DotChart:
    """Return more marks than have room beside each other, on an axis that does not start at zero."""
    values = (55.1, 56.4, 56.9, 57.0, 57.2, 59.7)
    marks = tuple(_mark(f"near-{value}", value, note=_say(lang, "a run", "прогон")) for value in values)
    rows = (
        Row(_say(lang, "near each other", "рядом"), None, "other", marks),
        Row(_say(lang, "backend", "бэкенд"), None, "backend", marks[:3]),
    )
    title = _say(lang, "Close values", "Близкие значения")
    note = _say(lang, "The axis does not start at zero.", "Ось начинается не с нуля.")
    return DotChart("crowded", lang, title, _rate(lang), note, rows, from_zero=False, footer=_footer(lang))


def depth(lang: str) -> CurveChart:
    def curve(key: str, points: tuple[tuple[float, float | None], ...]) -> tuple[CurvePoint, ...]:
        missing = _say(lang, "not measured", "не измерено")
        return tuple(
            CurvePoint(f"{key}-{place}", x, y, missing if y is None else f"{y:g}", href=f"figures/#{key}-{place}")
            for place, (x, y) in enumerate(points)
        )

    own = curve("depth", ((1, 42.7), (32, 28.9), (128, 25.4), (512, 17.6), (1024, 17.2), (1024, 17.2)))
    others = curve("elsewhere", ((1, 51), (32, 44), (128, 36), (256, None)))
    return CurveChart(
        "depth", lang, _say(lang, "Speed falls with depth", "Скорость падает с глубиной"),
        _say(lang, "Context depth, tokens (logarithmic)", "Глубина контекста, токены (логарифм. шкала)"),
        _rate(lang), None,
        (
            Series(_say(lang, "this machine", "эта машина"), "backend", own),
            Series(_say(lang, "elsewhere", "другие"), "prompt", others, style="others"),
        ),
        ((1, "1K"), (32, "32K"), (128, "128K"), (512, "512K"), (1024, "1M")),
        x_log=True, footer=_footer(lang),
    )  # fmt: skip
