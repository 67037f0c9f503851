"""Exports against their schemas, against the pages, and by the documented examples."""

from __future__ import annotations

import csv
import functools
import http.server
import json
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from lxml import html

from macros import citation
from macros.settings import Settings
from tests.conftest import ROOT

FIXED = [
    "id",
    "kind",
    "value",
    "low",
    "high",
    "unit",
    "quantity",
    "statistic",
    "n",
    "spread",
    "evidence",
    "status",
    "superseded_by",
    "vantage",
    "concurrency",
    "profile",
    "runs",
    "formula",
    "config",
    "source",
    "text",
    "quote",
    "url",
]


def load(site: Path, name: str) -> Any:
    return json.loads((site / name).read_text("utf-8"))


@pytest.mark.parametrize("name", ["figures", "runs", "published"])
def test_exports_fit_their_schemas(site: Path, name: str) -> None:
    schema = load(site, f"schema/data-{name}.schema.json")
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(load(site, f"data/{name}.json"), schema)


def test_a_figure_without_a_unit_does_not_fit(site: Path) -> None:
    data = load(site, "data/figures.json")
    del data["figures"][0]["unit"]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(data, load(site, "schema/data-figures.schema.json"))


@pytest.mark.parametrize(
    ("kind", "folder"), [("run", "runs"), ("comparison", "comparisons"), ("published", "published")]
)
def test_manifests_fit_the_schema_for_editors(site: Path, kind: str, folder: str) -> None:
    validator = jsonschema.Draft202012Validator(load(site, f"schema/{kind}.schema.json"))
    for path in sorted((ROOT / "results" / folder).glob("*.yaml")):
        content = json.loads(json.dumps(yaml.safe_load(path.read_text("utf-8")), default=str))
        assert list(validator.iter_errors(content)) == [], path.name
        if kind == "run" and content["measurements"]:
            content["measurements"][0]["value"] = "59.7"
            assert not validator.is_valid(content), "a number in quotes must not fit"


def test_figures_have_the_fixed_fields(site: Path) -> None:
    data = load(site, "data/figures.json")
    assert data["version"] == 1
    for figure in data["figures"]:
        assert set(FIXED) <= set(figure)
        assert set(figure["spread"]) == {"low", "high", "meaning"}
        assert (figure["value"] is None) == (figure["low"] is not None)


def test_known_figures(site: Path) -> None:
    by_id = {f["id"]: f for f in load(site, "data/figures.json")["figures"]}
    auto = by_id["moe-auto-decode"]
    assert (auto["value"], auto["unit"], auto["n"], auto["vantage"], auto["concurrency"]) == (
        59.7,
        "tok/s",
        None,
        "client",
        1,
    )
    assert auto["spread"] == {"low": 59.0, "high": 60.1, "meaning": "min_max_of_runs"}
    assert by_id["code-c12-aggregate"]["spread"] == {"low": 18, "high": 24, "meaning": "relative_percent"}
    old = by_id["step-gain-client"]
    assert (old["low"], old["high"], old["status"], old["superseded_by"]) == (16, 18, "superseded", "step-gain-engine")
    assert by_id["model-card-claim"]["kind"] == "published"
    assert by_id["moe-gain"]["kind"] == "derived"
    assert '"value": 4.80,' in (site / "data/figures.json").read_text("utf-8")  # the recorded digits stay


@pytest.mark.parametrize("language", ["en", "ru"])
def test_a_figure_prints_the_same_everywhere(site: Path, language: str) -> None:
    printed = {f["id"]: f["text"][language] for f in load(site, "data/figures.json")["figures"]}
    root = site if language == "en" else site / "ru"
    seen = set()
    for page in root.rglob("*.html"):
        if language == "en" and page.relative_to(site).parts[0] == "ru":
            continue
        for element in html.parse(str(page)).iter("data"):
            figure_id = element.get("data-figure")
            if figure_id:
                assert element.text_content() in (printed[figure_id], printed[figure_id].removesuffix("×"))
                seen.add(figure_id)
    assert seen == set(printed)


def test_the_table_says_what_the_json_says(site: Path) -> None:
    with (site / "data/figures.csv").open(encoding="utf-8", newline="") as file:
        rows = {row["id"]: row for row in csv.DictReader(file)}
    for figure in load(site, "data/figures.json")["figures"]:
        row = rows[figure["id"]]
        assert row["text_en"] == figure["text"]["en"]
        assert row["quote_ru"] == figure["quote"]["ru"]
        assert (row["value"] or None) is None or float(row["value"]) == figure["value"]


def test_no_file_keeps_a_mark(site: Path) -> None:
    for path in site.rglob("*"):
        if path.suffix in (".html", ".json", ".csv", ".xml", ".txt", ".md", ".svg"):
            content = path.read_text("utf-8")
            assert not [c for c in content if "\ue000" <= c <= "\uf8ff"], path
            assert "\\ue00" not in content, path


def test_manifests_are_there_as_they_are(site: Path) -> None:
    for path in (ROOT / "results").glob("*/*.yaml"):
        assert (site / "data/manifests" / path.name).read_bytes() == path.read_bytes()


@pytest.mark.parametrize("folder", ["", "ru/"])
def test_the_explainer_is_plain_markdown(site: Path, folder: str) -> None:
    content = (site / folder / "index.md").read_text("utf-8")
    for text in ("59.7", "62.6–71.0", "13%", "260.4", "18–24%", "~~16–18%~~"):
        assert text in content
    for left in ("<a ", "<div", "<figure", "<svg", "{{", "{ #", "&#", "</"):
        assert left not in content
    assert content.startswith("# ")
    assert "```bash\ndocker logs" in content


def test_llms_and_robots(site: Path) -> None:
    llms = (site / "llms.txt").read_text("utf-8")
    assert llms.startswith("# ")
    assert "/ru/index.md)" in llms
    assert "/data/figures.json)" in llms
    # The main figures stand there with their caveats, in both languages.
    gain = next(line for line in llms.splitlines() if line.startswith("- The gain in decode rate from the MoE backend"))
    for part in (" is 13% (", "4–20% between single runs", "not resolvable", "card-like control profile"):
        assert part in gain
    assert re.search(r"^- Скорость декодирования с ядром B12X — 67\.6\stok/s .*размах\s62\.6–71\.0", llms, re.MULTILINE)
    robots = (site / "robots.txt").read_text("utf-8")
    assert "Disallow" not in robots
    assert "Allow: /\n" in robots
    assert "GPTBot" in robots
    assert "ClaudeBot" in robots


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()


@pytest.mark.parametrize(("tool", "name"), [(sys.executable, "read_figures.py"), ("node", "read-figures.mjs")])
def test_the_documented_examples_run(site: Path, address: str, tool: str, name: str) -> None:
    if not shutil.which(tool):
        pytest.skip(f"{tool} is not installed")
    example = site / "assets/examples" / name
    for page in ("data/index.html", "ru/data/index.html"):
        shown = html.parse(str(site / page)).xpath("string(//article)")
        assert example.read_text("utf-8").strip() in shown
    done = subprocess.run([tool, str(example), address], capture_output=True, text=True, check=True, timeout=60)
    lines = done.stdout.splitlines()
    assert "moe-b12x-decode\t67.6\ttok/s\t62.6 to 71" in done.stdout
    assert "code-c1-decode\t65.5\ttok/s\tspread not published" in lines
    assert lines[-1].startswith("The ")
    assert "/figures/#" in lines[-1]


def test_citation_follows_the_settings() -> None:
    config = yaml.load((ROOT / "mkdocs.yml").read_text("utf-8").replace("!ENV", ""), yaml.BaseLoader)
    assert (ROOT / "CITATION.cff").read_text("utf-8") == citation.cff(Settings.of("", config["extra"]))
