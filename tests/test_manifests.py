"""Manifests: every mistake is reported with file, line, column, field, what was expected and what was found."""

from __future__ import annotations

from pathlib import Path

import pytest

from macros import dataset, manifests
from macros.manifests import Comparison, Manifest, Run
from macros.problems import InputError, Problem
from macros.vocabulary import UNITS
from tests.conftest import ROOT, Tree
from tests.example_manifests import RUN, comparison, figure, raw, run

FILE = "results/runs/probe.yaml"
HEX = "0123456789abcdef"


def problems(folder: Path, text: str | bytes, kind: type[Manifest] = Run, name: str = "probe.yaml") -> list[Problem]:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    model, found = manifests.read(path, FILE, kind)
    assert (model is None) == bool(found)
    return found


def place(text: str, mark: str) -> tuple[int, int]:
    """Line and column, from 1, of a text that occurs once."""
    assert text.count(mark) == 1, f"{mark!r} occurs {text.count(mark)} times"
    before = text[: text.index(mark)]
    return before.count("\n") + 1, len(before) - before.rfind("\n")


def test_the_examples_are_in_order(tmp_path: Path) -> None:
    assert problems(tmp_path, run()) == []
    assert problems(tmp_path, comparison(), Comparison) == []
    assert problems(tmp_path, raw("probe", "60.2")) == []


# (what is replaced, by what, where the mistake stands, field, expected, found)
MISTAKES: dict[str, tuple[str, str, str, str, str, str]] = {
    "unknown key, near a known one": (
        "  chip: GB10",
        "  chip: GB10\n  interconect: QSFP",
        "interconect",
        "system.interconect",
        "a known key (did you mean interconnect?)",
        "the key interconect",
    ),
    "unknown key, near none": (
        "date: null",
        "date: null\nzzzz: 1",
        "zzzz",
        "zzzz",
        "a known key",
        "the key zzzz",
    ),
    "missing key": (
        "  image_digest: null\n",
        "",
        "runtime:",
        "runtime.image_digest",
        "this key (null where not published)",
        "no such key",
    ),
    "text for a number": (
        "value: 59.7",
        "value: fast",
        "value: fast",
        "measurements.0.value",
        "a number",
        "the text 'fast'",
    ),
    "number for text": (
        'checkpoint: "0731"',
        "checkpoint: 731",
        "checkpoint",
        "model.checkpoint",
        "text, in quotes",
        "731",
    ),
    "fraction for a count": ("nodes: 2", "nodes: 2.5", "nodes", "system.nodes", "a whole number", "2.5"),
    "list for a mapping": ("method:\n", "method: []\nrest:\n", "method: []", "method", "a mapping of keys", "a list"),
    "text for a yes or no": ("warm: true", 'warm: "true"', "warm", "method.warm", "true or false", "the text 'true'"),
    "zero rate": ("value: 59.7", "value: 0", "value: 0", "measurements.0.value", "a number above 0", "0"),
    "negative rate": ("value: 59.7", "value: -59.7", "value", "measurements.0.value", "a number above 0", "-59.7"),
    "not a number": ("value: 59.7", "value: .nan", "value", "measurements.0.value", "a finite number", ".nan"),
    "infinity": ("value: 59.7", "value: .inf", "value", "measurements.0.value", "a finite number", ".inf"),
    "low above high": ("low: 59.0", "low: 61.0", "low: 61.0", "measurements.0.low", "at most high (60.1)", "61.0"),
    "mean outside its span": (
        "value: 59.7",
        "value: 60.2",
        "value",
        "measurements.0.value",
        "a value inside its span 59.0 to 60.1",
        "60.2",
    ),
    "half a span": (
        "low: 59.0",
        "low: null",
        "low: null",
        "measurements.0.low",
        "low and high together, or neither",
        "one of them",
    ),
    "one run with a span": (
        "    n: null",
        "    n: 1",
        "n: 1",
        "measurements.0.n",
        "at least 2 runs, or null, where there is a span",
        "1",
    ),
    "unit that does not fit": (
        "unit: tok/s",
        "unit: steps/s",
        "unit",
        "measurements.0.unit",
        "tok/s for decode_rate",
        "steps/s",
    ),
    "unit that nobody knows": (
        "unit: tok/s",
        "unit: tok/min",
        "unit",
        "measurements.0.unit",
        "one of 'tok/s', 'steps/s', 'chunks/s', 'tok/step', '%', 's' or 'ms'",
        "the text 'tok/min'",
    ),
    "n that is not the number of samples": (
        "    n: null",
        "    n: 4\n    samples: [59.0, 60.0, 60.1]",
        "n: 4",
        "measurements.0.n",
        "3, the number of samples",
        "4",
    ),
    "value outside its samples": (
        "    n: null",
        "    n: 2\n    samples: [59.0, 59.5]",
        "value: 59.7",
        "measurements.0.value",
        "a value between the samples 59.0 and 59.5",
        "59.7",
    ),
    "tokens without seconds": (
        "    n: null",
        "    n: null\n    tokens: 500",
        "tokens: 500",
        "measurements.0.tokens",
        "tokens and seconds together, or neither",
        "one of them",
    ),
    "evidence that the manifest does not bear": (
        "evidence: lab_single_run",
        "evidence: methodology_v1",
        "evidence",
        "evidence",
        "for methodology_v1: n of at least 3 in each measurement; workload.sha256 of the frozen workload; "
        "runtime.image_digest; model.revision",
        "not all of it stated",
    ),
    "evidence that is no label": (
        "evidence: lab_single_run",
        "evidence: certain",
        "evidence",
        "evidence",
        "one of 'model_card', 'community_report', 'lab_single_run' or 'methodology_v1'",
        "the text 'certain'",
    ),
    "key a second time": (
        "  concurrency: 1\n",
        "  concurrency: 1\n  concurrency: 12\n",
        "concurrency: 12",
        "concurrency",
        "each key once",
        "the key a second time",
    ),
    "id that is not the file's name": (
        "id: probe",
        "id: prob",
        "id: prob\n",
        "id",
        "probe, like the file's name",
        "prob",
    ),
    "id with other characters": (
        "id: decode",
        "id: De_code",
        "id: De_code",
        "measurements.0.id",
        "lower-case letters, digits and single hyphens",
        "the text 'De_code'",
    ),
    "unquoted checkpoint": (
        'checkpoint: "0731"',
        "checkpoint: 0731",
        "checkpoint",
        "model.checkpoint",
        "text, in quotes",
        "0731, which YAML reads as 473: quote it",
    ),
    "unquoted no": (
        "language: null",
        "language: no",
        "language",
        "workload.language",
        "text, in quotes",
        "no, which YAML reads as false: quote it",
    ),
    "unquoted time": (
        "weights: null",
        "weights: 12:30",
        "weights",
        "model.weights",
        "text, in quotes",
        "12:30, which YAML reads as 750: quote it",
    ),
    "alias": (
        'checkpoint: "0731"\n  weights: null',
        "checkpoint: &c x\n  weights: *c",
        "*c",
        "",
        "plain data, quoted if needed",
        "the alias *c",
    ),
    "anchor": ("device: DGX Spark", "device: &d DGX Spark", "&d", "", "plain data, quoted if needed", "the anchor &d"),
    "tag": ("device: DGX Spark", "device: !env HOME", "!env", "", "plain data, quoted if needed", "the tag !env"),
    "address without encryption": (
        "url: https://example.org/runs",
        "url: http://example.org/runs",
        "url",
        "sources.0.url",
        "an https:// address",
        "the text 'http://example.org/runs'",
    ),
    "address that runs": (
        "url: https://example.org/runs",
        "url: javascript:alert(1)",
        "url",
        "sources.0.url",
        "an https:// address",
        "the text 'javascript:alert(1)'",
    ),
    "short commit": (
        "commit: null",
        "commit: abc123f",
        "commit",
        "sources.0.commit",
        "40 hexadecimal digits, lower case",
        "the text 'abc123f'",
    ),
    "day that does not exist": (
        "date: null",
        "date: 2026-02-30",
        "date",
        "date",
        "a date, YYYY-MM-DD",
        "2026-02-30, which YAML reads as a date that does not exist: quote it",
    ),
    "superseded by nothing": (
        "date: null",
        "date: null\ncorrection: { status: superseded, date: null, reason: { en: a, ru: б }, successor: null }",
        "successor",
        "correction.successor",
        "the id of the manifest that replaces this one",
        "null",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_has_its_place_its_field_and_its_reason(name: str, tmp_path: Path) -> None:
    old, new, mark, field, expected, found = MISTAKES[name]
    text = run()
    assert text.count(old) == 1
    text = text.replace(old, new)
    wanted = Problem(FILE, *place(text, mark), field, expected, found)
    reported = problems(tmp_path, text)
    assert wanted in reported, "\n".join(map(str, reported))
    # Nothing else is wrong, but what the same change brings along.
    others = [p for p in reported if p != wanted and not p.field.startswith("rest")]
    assert len(others) <= (1 if name in ("alias", "list for a mapping") else 0), others


def test_a_message_reads_as_place_field_expected_found(tmp_path: Path) -> None:
    text = run(value="fast")
    line, column = place(text, "value: fast")
    assert [str(p) for p in problems(tmp_path, text)] == [
        f"{FILE}:{line}:{column}: measurements.0.value: expected a number; found the text 'fast'"
    ]


def test_all_mistakes_come_at_once(tmp_path: Path) -> None:
    text = run(value="-1", nodes="two", evidence="certain", unit="steps/s").replace("  image: null\n", "")
    text += "unknown: 1\n"
    found = {p.field for p in problems(tmp_path, text)}
    assert found == {
        "measurements.0.value",
        "measurements.0.unit",
        "system.nodes",
        "evidence",
        "runtime.image",
        "unknown",
    }


def test_a_file_in_another_encoding(tmp_path: Path) -> None:
    text = run().replace("device: DGX Spark", "device: Спарк")
    line, column = place(text, "Спарк")
    [problem] = problems(tmp_path, text.encode("cp1251"))
    # С is 0xD1 in windows-1251.
    assert problem == Problem(FILE, line, column, "", "UTF-8 text", "byte 0xd1")


def test_a_file_above_one_mebibyte(tmp_path: Path) -> None:
    text = run()
    padding = "#" * (1024 * 1024 - len(text.encode()))
    assert problems(tmp_path, text + padding) == []
    [problem] = problems(tmp_path, text + padding + "#")
    assert problem == Problem(FILE, 0, 0, "", "at most 1 MiB", "1,048,577 bytes")


@pytest.mark.parametrize(
    ("text", "found"), [("", "an empty file"), ("# nothing\n", "an empty file"), ("- 1\n", "a list")]
)
def test_a_file_that_holds_no_manifest(text: str, found: str, tmp_path: Path) -> None:
    [problem] = problems(tmp_path, text)
    assert (problem.expected, problem.found) == ("a mapping of keys", found)


def test_a_run_without_a_measurement_says_why(tmp_path: Path) -> None:
    text = RUN + "measurements: []\n"
    line, column = place(text, "measurements")
    assert problems(tmp_path, text) == [
        Problem(FILE, line, column, "measurements", "at least 1 entry, or `missing` with the reason", "none")
    ]
    assert problems(tmp_path, text + "missing: { en: it stopped, ru: он прервался }\n") == []


def test_two_measurements_with_one_id(tmp_path: Path) -> None:
    text = run()
    block = text[text.index("  - id: decode") :]
    [problem] = problems(tmp_path, text + block)
    assert (problem.field, problem.found) == ("measurements.1.id", "decode")


@pytest.mark.parametrize("quantity", sorted(UNITS))
def test_each_quantity_has_its_units(quantity: str, tmp_path: Path) -> None:
    every = ["tok/s", "steps/s", "chunks/s", "tok/step", '"%"', "s", "ms"]
    fits = {unit for unit in every if not problems(tmp_path, run(quantity=quantity, unit=unit))}
    by_hand = {
        "step_rate": {"steps/s"},
        "chunk_rate": {"chunks/s"},
        "acceptance_length": {"tok/step"},
        "acceptance_rate": {'"%"'},
        "time_to_first_token": {"s", "ms"},
        "time_per_output_token": {"s", "ms"},
        "duration": {"s", "ms"},
    }
    assert fits == by_hand.get(quantity, {"tok/s"})


METHODOLOGY = {
    "evidence": "methodology_v1",
    "n": "3",
    "revision": "abc",
    "image_digest": f"sha256:{HEX * 4}",
}


def methodology(without: str = "") -> str:
    changes = {key: value for key, value in METHODOLOGY.items() if key != without}
    text = run(**changes)
    return text if without == "sha256" else text.replace("  thinking: null", f"  thinking: null\n  sha256: {HEX * 4}")


def test_methodology_v1_with_all_that_it_needs(tmp_path: Path) -> None:
    assert problems(tmp_path, methodology()) == []


@pytest.mark.parametrize(
    ("without", "named"),
    [
        ("n", "n of at least 3 in each measurement"),
        ("revision", "model.revision"),
        ("image_digest", "runtime.image_digest"),
        ("sha256", "workload.sha256 of the frozen workload"),
    ],
)
def test_methodology_v1_names_what_is_missing(without: str, named: str, tmp_path: Path) -> None:
    [problem] = problems(tmp_path, methodology(without))
    assert (problem.field, problem.expected) == ("evidence", f"for methodology_v1: {named}")


@pytest.mark.parametrize("n", ["1", "2"])
def test_methodology_v1_with_too_few_repeats(n: str, tmp_path: Path) -> None:
    text = (
        methodology()
        .replace("    n: 3", f"    n: {n}")
        .replace("low: 59.0", "low: null")
        .replace("high: 60.1", "high: null")
    )
    [problem] = problems(tmp_path, text)
    assert problem.expected == "for methodology_v1: n of at least 3 in each measurement"


# Comparisons


@pytest.mark.parametrize(
    ("change", "field", "expected"),
    [
        ({"low": "13"}, "effect.low", "at most high (12)"),
        ({"unit": "tok/s"}, "effect.unit", "% for a gain"),
        ({"before": "3.27"}, "effect.before", "before and after together, or neither"),
        ({"low": "null", "high": "null"}, "effect.low", "either a gain (low, high) or values (before, after)"),
        ({"before": "3.27", "after": "4.80"}, "effect.low", "either a gain (low, high) or values (before, after)"),
    ],
)
def test_rules_of_an_effect(change: dict[str, str], field: str, expected: str, tmp_path: Path) -> None:
    text = comparison(**change)
    found = problems(tmp_path, text, Comparison)
    assert (field, expected) in [(p.field, p.expected) for p in found]
    assert all(p.line == place(text, f"  {p.field.split('.')[1]}: ")[0] for p in found)


# All files together


def loaded(folder: Path, files: dict[str, str]) -> list[Problem]:
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    try:
        dataset.load(folder)
    except InputError as error:
        return error.problems
    return []


def test_one_id_in_two_folders(tmp_path: Path) -> None:
    [problem] = loaded(tmp_path, {"runs/probe.yaml": run(), "comparisons/probe.yaml": comparison()})
    assert (problem.field, problem.expected) == ("id", "an id that no other manifest has")
    assert (problem.line, problem.column) == (1, 1)
    assert problem.found == f"probe, as in {tmp_path.name}/runs/probe.yaml"


def corrected(successor: str) -> str:
    reason = "reason: { en: again, ru: снова }"
    return f"correction: {{ status: superseded, date: null, {reason}, successor: {successor} }}\n"


def test_a_successor_must_exist_and_may_not_lead_back(tmp_path: Path) -> None:
    files = {"runs/a.yaml": run("a") + corrected("b"), "runs/b.yaml": run("b")}
    assert loaded(tmp_path, files) == []
    [problem] = loaded(tmp_path, {"runs/b.yaml": run("b") + corrected("nobody")})
    assert (problem.field, problem.found) == ("correction.successor", "nobody")
    # The last line, in braces.
    line = (run("b") + corrected("nobody")).rstrip().split("\n")
    assert (problem.line, problem.column) == (len(line), line[-1].index("successor:") + 1)
    circle = loaded(tmp_path, {"runs/b.yaml": run("b") + corrected("a")})
    assert {p.found for p in circle} == {"a → b → a", "b → a → b"}


def test_a_comparison_changes_a_key_that_its_baseline_states(tmp_path: Path) -> None:
    [problem] = loaded(tmp_path, {"comparisons/probe.yaml": comparison(version='"0.20.0"')})
    assert (problem.field, problem.expected) == ("change.baseline", "the baseline's runtime.version, 0.20.0")
    [problem] = loaded(tmp_path, {"comparisons/probe.yaml": comparison(key="runtime.mood")})
    assert (problem.field, problem.found) == ("change.key", "runtime.mood")
    [problem] = loaded(tmp_path, {"comparisons/probe.yaml": comparison(key="runtime.versio")})
    line = comparison(key="runtime.versio").split("\n").index("  key: runtime.versio") + 1
    assert (problem.line, problem.column) == (line, 3)
    assert problem.expected == "a key that is compared (did you mean runtime.version?)"


def test_what_is_shared_with_another_run_is_named_with_its_place(tmp_path: Path) -> None:
    shared = "same_as:\n  - run: b\n    keys:\n      - runtime.image\n      - runtime.imag\n"
    shared += "  - run: nobody\n    keys: [runtime.image]\n"
    files = {"runs/a.yaml": run("a") + shared, "runs/b.yaml": run("b")}
    start = run("a").count("\n")
    assert [(p.line - start, p.column, p.field, p.expected) for p in loaded(tmp_path, files)] == [
        (5, 9, "same_as.0.keys.1", "a key that is compared (did you mean runtime.image?)"),
        (6, 5, "same_as.1.run", "the id of a run"),
    ]


@pytest.mark.parametrize(("typed", "hint"), [("cardlike", " (did you mean card-like?)"), ("zzz", "")])
def test_an_unknown_profile_is_named_with_its_place(typed: str, hint: str, tree: Tree) -> None:
    file = "results/runs/moe-auto.yaml"
    tree.edit(file, "profile: card-like", f"profile: {typed}")
    place = f"{file}:{tree.line_of(file, 'profile:')}:3: workload.profile"
    said = f"{place}: expected a profile of results/profiles.yaml{hint}; found {typed}"
    assert said in tree.check().output


def test_what_no_page_shows_is_named_with_its_place(tree: Tree) -> None:
    entry = figure("spare", "select: { quantity: decode_rate, where: { workload.profile: heavy } }")
    tree.append("results/figures.yaml", entry)
    line = tree.line_of("results/figures.yaml", "spare:")
    assert f"results/figures.yaml:{line}:1: spare: expected a page that shows this figure" in tree.check().output


def test_mistakes_of_several_files_come_together(tmp_path: Path) -> None:
    files = {"runs/a.yaml": run("a", value="fast"), "comparisons/b.yaml": comparison("b", unit="miles")}
    found = loaded(tmp_path, files)
    assert [(p.file.split("/")[-1], p.field) for p in found] == [
        ("b.yaml", "effect.unit"),
        ("a.yaml", "measurements.0.value"),
    ]


def test_three_mistakes_stop_the_real_site_with_all_three_places(tree: Tree) -> None:
    file = "results/runs/moe-auto.yaml"
    tree.edit(file, "value: 59.7", "value: -59.7")
    tree.edit(file, "  nodes: 2", "  nodes: two")
    tree.edit(file, "  language: null\n", "")
    outcome = tree.check()
    assert not outcome.ok
    assert "3 problems" in outcome.output
    for mark, field in (
        ("value: -59.7", "measurements.0.value"),
        ("nodes: two", "system.nodes"),
        ("workload:", "workload.language"),
    ):
        assert f"{file}:{tree.line_of(file, mark)}:" in outcome.output
        assert f" {field}: expected " in outcome.output


def test_every_real_manifest_is_read() -> None:
    """The number of files is that of manifests: none is overlooked for its place or its suffix."""
    folder = ROOT / "results"
    files = [p for name in dataset.FOLDERS for p in (folder / name).iterdir() if not p.name.startswith(".")]
    assert len(dataset.load(folder).manifests) == len(files)


def test_hostile_text_is_refused(tmp_path: Path) -> None:
    assert RUN.count("DGX Spark") == 1
    [problem] = problems(tmp_path, run(device='"DGX\\nSpark"'))
    assert (problem.field, problem.expected) == ("system.device", "one line of text")
