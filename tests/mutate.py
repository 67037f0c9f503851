"""Measures the gate: `make mutate [SEED=n]`.

Draws small mistakes at random from all places that qualify, makes each one in a copy of the project, and builds.
A mutant is caught when the build stops, or when the change shows everywhere that it should, judged by a reader
that shares no code with `macros` (independent.py). Survivors print their diff; the run ends with `N of M caught`.
"""

from __future__ import annotations

import argparse
import difflib
import itertools
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import Queue

from tqdm import tqdm

sys.path.insert(0, str(Path(__file__).parent))
import independent

ROOT = Path(__file__).parent.parent
PARTS = ("docs", "results", "macros", "overrides", "mkdocs.yml", "README.md", "CONTRIBUTING.md", ".github")
EACH = 15
# As a Russian page names them.
RUSSIAN_UNITS = {"ms": "мс", "steps/s": "шагов/с"}


@dataclass(frozen=True)
class Mutant:
    """One mistake: a file with its text before and after."""

    kind: str
    file: str
    before: str
    after: str

    def diff(self) -> str:
        lines = difflib.unified_diff(
            self.before.splitlines(), self.after.splitlines(), self.file, self.file, n=0, lineterm=""
        )
        return "\n".join(lines)


@dataclass(frozen=True)
class Verdict:
    mutant: Mutant
    outcome: str  # stopped, shown, equivalent or survived
    why: str


Place = tuple[str, int, int, str]  # file, start, end, replacement
Source = dict[str, str]


# Where each kind of mistake can be made. Each yields every place that qualifies; the run draws from them.


def _prose(text: str) -> Iterator[re.Match[str]]:
    """Gaps between words of prose: outside code, macros, tags, links, headings' attributes and front matter keys."""
    hidden = re.compile(
        r"^```.*?^```|`[^`\n]*`|\{\{.*?\}\}|\{ ?#[^}]*\}|<[^>]*>|\]\([^)]*\)|^---$|^\w+: (>-)?|^\|[-| ]+\|$",
        re.S | re.M,
    )
    blanked = hidden.sub(lambda m: "\0" * len(m.group()), text)
    return re.finditer(r"(?<=[^\W\d]) (?=[^\W\d])", blanked)


def page_digits(sources: Source, rng: random.Random) -> Iterator[Place]:
    yield from _inserted(sources, rng, lambda f: f.startswith("docs/") and not f.startswith("docs/ru/"), _prose, ".md")


def translation_digits(sources: Source, rng: random.Random) -> Iterator[Place]:
    yield from _inserted(sources, rng, lambda f: f.startswith("docs/ru/"), _prose, ".md")


def template_digits(sources: Source, rng: random.Random) -> Iterator[Place]:
    def texts(text: str) -> Iterator[re.Match[str]]:
        hidden = re.compile(r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}|<script.*?</script>|<style.*?</style>", re.S)
        blanked = hidden.sub(lambda m: "\0" * len(m.group()), text)
        return re.finditer(r"(?<=>)(?=[^<\s\0])|(?<=[^\W\d]) (?=[^\W\d])(?=[^<>]*<)", blanked)

    yield from _inserted(sources, rng, lambda f: f.startswith("overrides/"), texts, ".html")
    for language in ("en", "ru"):
        yield from _in_texts(sources, rng, f"macros/locales/{language}.yaml", r"^ *[\w/.%×\"]+: (.*)$")


def label_digits(sources: Source, rng: random.Random) -> Iterator[Place]:
    yield from _in_texts(sources, rng, "results/figures.yaml", r"^    (?:en|ru): (.*)$")
    yield from _in_texts(sources, rng, "results/statements.yaml", r"^    (?:en|ru): (.*)$")


def chart_digits(sources: Source, rng: random.Random) -> Iterator[Place]:
    yield from _in_texts(sources, rng, "results/charts.yaml", r"^ +(?:en|ru): (.*)$")


def _number(rng: random.Random) -> str:
    return rng.choice([f"{rng.randint(30, 90)}.{rng.randint(0, 9)}", str(rng.randint(2, 99)), f"{rng.randint(2, 60)}%"])


def _inserted(
    sources: Source,
    rng: random.Random,
    wanted: Callable[[str], bool],
    gaps: Callable[[str], Iterator[re.Match[str]]],
    suffix: str,
) -> Iterator[Place]:
    for file, text in sources.items():
        if wanted(file) and file.endswith(suffix):
            for gap in gaps(text):
                yield file, gap.start(), gap.end(), f" {_number(rng)} "


def _in_texts(sources: Source, rng: random.Random, file: str, pattern: str) -> Iterator[Place]:
    text = sources[file]
    for line in re.finditer(pattern, text, re.M):
        for gap in re.finditer(r"(?<=[^\W\d]) (?=[^\W\d])", line[1]):
            start = line.start(1) + gap.start()
            yield file, start, start + 1, f" {_number(rng)} "


MANIFEST = re.compile(r"results/(runs|comparisons|published)/")


def manifest_digits(sources: Source, rng: random.Random) -> Iterator[Place]:
    """A digit of a measured value."""
    for file, text in sources.items():
        if MANIFEST.match(file):
            for line in re.finditer(r"^ *(?:- )?(?:value|low|high|before|after): ([\d.]+)$", text, re.M):
                for index, char in enumerate(line[1]):
                    if char.isdigit():
                        other = rng.choice([d for d in "123456789" if d != char])
                        yield file, line.start(1) + index, line.start(1) + index + 1, other


def swapped_ids(sources: Source, rng: random.Random) -> Iterator[Place]:
    """Another figure's id in a macro call of a page."""
    names = re.findall(r"^([a-z][\w-]*):$", sources["results/figures.yaml"], re.M)
    for file, text in sources.items():
        if file.startswith("docs/"):
            for call in re.finditer(r'(?:figure|heading|plain|times)\("([\w-]+)"', text):
                yield file, call.start(1), call.end(1), rng.choice([n for n in names if n != call[1]])


def signs(sources: Source, rng: random.Random) -> Iterator[Place]:
    for file, text in sources.items():
        if MANIFEST.match(file):
            for line in re.finditer(r"^ *(?:- )?(?:value|low|high|before|after): (?=\d)", text, re.M):
                yield file, line.end(), line.end(), "-"


def units(sources: Source, rng: random.Random) -> Iterator[Place]:
    for file, text in sources.items():
        if MANIFEST.match(file):
            for line in re.finditer(r'^ *unit: "?([\w/%]+)"?$', text, re.M):
                others = [u for u in ("tok/s", "steps/s", "ms", "%") if u != line[1]]
                yield file, line.start(), line.end(), line[0].replace(line[1], rng.choice(others))


def turned_spans(sources: Source, rng: random.Random) -> Iterator[Place]:
    for file, text in sources.items():
        if MANIFEST.match(file):
            for pair in re.finditer(r"low: ([\d.]+)\n( *)high: ([\d.]+)", text):
                if pair[1] != pair[3]:
                    yield file, pair.start(), pair.end(), f"low: {pair[3]}\n{pair[2]}high: {pair[1]}"


def false_statements(sources: Source, rng: random.Random) -> Iterator[Place]:
    """Operands turned round, or a bound moved out of reach."""
    file = "results/statements.yaml"
    for line in re.finditer(r"holds: \{ kind: (\w+), of: \[([^\]]+)\](.*)\}", sources[file]):
        operands = line[2].split(", ")
        if line[1] in ("above", "ordering", "larger_effect"):
            yield file, line.start(2), line.end(2), ", ".join(reversed(operands))
        for bound in re.finditer(r"low: ([\d.]+)", line[3]):
            start = line.start(3) + bound.start(1)
            yield file, start, start + len(bound[1]), str(rng.randint(50, 900))
        for bound in re.finditer(r"decade: (\d+)", line[3]):
            start = line.start(3) + bound.start(1)
            yield file, start, start + len(bound[1]), rng.choice(["10", "20", "30", "90"])
        for bound in re.finditer(r"part: (high|low)", line[3]):
            start = line.start(3) + bound.start(1)
            yield file, start, start + len(bound[1]), "low" if bound[1] == "high" else "high"


def dropped_sections(sources: Source, rng: random.Random) -> Iterator[Place]:
    for file, text in sources.items():
        if file.startswith("docs/ru/"):
            starts = [m.start() for m in re.finditer(r"^#{2,3} ", text, re.M)] + [len(text)]
            for start, end in itertools.pairwise(starts):
                yield file, start, end, ""


def moved_figures(sources: Source, rng: random.Random) -> Iterator[Place]:
    """A macro call cut from one section and pasted at the end of another."""
    for file, text in sources.items():
        if not file.startswith("docs/"):
            continue
        headings = [m.start() for m in re.finditer(r"^## ", text, re.M)]
        for call in re.finditer(r'\{\{ figure\("[^}]+\}\}', text):
            later = [h for h in headings if h > call.end()]
            # The end of its own section would be no other place.
            if later[1:]:
                at = rng.choice(later[1:])
                moved = text[call.end() : at] + call[0] + "\n\n"
                yield file, call.start(), at, moved


def widened_names(sources: Source, rng: random.Random) -> Iterator[Place]:
    """An allowed name made into something that lets other numbers pass."""
    file = "results/unbound.yaml"
    for line in re.finditer(r"^([^#\s][^:\n]*):", sources[file], re.M):
        digits = re.search(r"\d+", line[1])
        if digits:
            yield file, line.start(1), line.end(1), f'"{digits[0]}"'
            yield file, line.start(1), line.end(1), f'"{_number(rng)}"'
        yield file, line.start(1), line.start(1), f'"{_number(rng)} tok/s": {{ reason: widened }}\n'


KINDS: dict[str, Callable[[Source, random.Random], Iterator[Place]]] = {
    "a digit in a manifest": manifest_digits,
    "a digit in a page": page_digits,
    "a digit in a translation": translation_digits,
    "a digit in a template": template_digits,
    "a digit in a label": label_digits,
    "a digit in a chart's text": chart_digits,
    "a figure id swapped": swapped_ids,
    "a sign": signs,
    "a unit": units,
    "a span turned round": turned_spans,
    "a statement made false": false_statements,
    "a Russian section dropped": dropped_sections,
    "a figure moved to another section": moved_figures,
    "an allowed name widened": widened_names,
}


def draw(sources: Source, seed: int, each: int) -> list[Mutant]:
    """`each` mutants of every kind, all of a kind where there are fewer places, drawn without repetition."""
    mutants = []
    for kind, places in KINDS.items():
        rng = random.Random(f"{seed}/{kind}")
        unique = sorted(set(places(sources, rng)))
        for file, start, end, replacement in rng.sample(unique, min(each, len(unique))):
            text = sources[file]
            mutants.append(Mutant(kind, file, text, text[:start] + replacement + text[end:]))
    return mutants


def read_sources(root: Path) -> Source:
    files = [p for part in ("docs", "results", "overrides", "macros") for p in sorted((root / part).rglob("*"))]
    return {
        p.relative_to(root).as_posix(): p.read_text("utf-8") for p in files if p.suffix in (".md", ".yaml", ".html")
    }


# Judging


def copy_project(folder: Path, cache: Path = ROOT / ".cache") -> Path:
    """A copy to make mistakes in, with what earlier builds kept, so that nothing is drawn twice."""
    for part in PARTS:
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, folder / part)
        elif (ROOT / part).exists():
            shutil.copy(ROOT / part, folder / part)
    if cache.exists():
        shutil.copytree(cache, folder / ".cache")
    return folder


def judge(mutant: Mutant, tree: Path) -> Verdict:
    path = tree / mutant.file
    path.write_text(mutant.after, "utf-8")
    try:
        command = [sys.executable, "-m", "macros.build"]
        environment = os.environ | {"PYTHONPATH": str(tree)}
        built = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False)
        if built.returncode:
            return Verdict(mutant, "stopped", (built.stderr or built.stdout).strip()[-2000:])
        if mutant.kind not in ("a digit in a manifest", "a unit"):
            return Verdict(mutant, "survived", "the build passed")
        wrong = independent.disagreements(tree / "results", tree / "site")
        wrong += list(_not_shown(mutant, tree / "site"))
        return Verdict(mutant, "survived" if wrong else "shown", "; ".join(wrong[:3]))
    finally:
        path.write_text(mutant.before, "utf-8")


def _not_shown(mutant: Mutant, site: Path) -> Iterator[str]:
    """The changed value must stand in its manifest's entry on the site, in both languages."""
    lines = zip(mutant.before.splitlines(), mutant.after.splitlines(), strict=True)
    new = next(after for before, after in lines if before != after).split(":", 1)[1].strip().strip('"')
    manifest_id = Path(mutant.file).stem
    for prefix in ("", "ru/"):
        pages = [site / f"{prefix}{name}/index.html" for name in ("runs", "published")]
        texts = [t for p in pages if p.exists() for t in _entry_texts(p, manifest_id)]
        wanted = (
            {new, f"{float(new):,.0f}" if new.isdigit() else new, f"{float(new):,.1f}"}
            if re.fullmatch(r"[\d.]+", new)
            else {new, RUSSIAN_UNITS.get(new, new)}
            if prefix
            else {new}
        )
        wanted |= (
            {f"{float(new):,}", f"{float(new):,}".replace(",", "\u202f")} if re.fullmatch(r"[\d.]+", new) else set()
        )
        if not any(w.replace(",", "\u202f") in t or w in t for w in wanted for t in texts):
            yield f"{prefix}: {new} does not stand in the entry of {manifest_id}"


def _entry_texts(page: Path, manifest_id: str) -> list[str]:
    tree = independent.html.document_fromstring(page.read_text("utf-8"))
    return [e.text_content() for e in tree.xpath("//*[@id=$name]", name=manifest_id)]


def run(seed: int, each: int, workers: int) -> int:
    mutants = draw(read_sources(ROOT), seed, each)
    trees: Queue[Path] = Queue()
    with tempfile.TemporaryDirectory() as folder:
        for index in range(workers):
            trees.put(copy_project(Path(folder) / str(index)))
        # A copy that does not build without a mistake would "catch" everything.
        untouched = Mutant("nothing", "README.md", *[(ROOT / "README.md").read_text("utf-8")] * 2)
        if judge(untouched, trees.queue[0]).outcome == "stopped":
            print("The project does not build as it is; nothing was measured.")
            return 1

        def one(mutant: Mutant) -> Verdict:
            tree = trees.get()
            try:
                return judge(mutant, tree)
            finally:
                trees.put(tree)

        with ThreadPoolExecutor(workers) as pool:
            verdicts = list(tqdm(pool.map(one, mutants), total=len(mutants), unit="mutant", disable=None))
    return report(verdicts)


def report(verdicts: list[Verdict]) -> int:
    for kind in KINDS:
        of_kind = [v for v in verdicts if v.mutant.kind == kind]
        outcomes = {o: sum(v.outcome == o for v in of_kind) for o in ("stopped", "shown", "survived")}
        print(f"{kind}: " + ", ".join(f"{count} {outcome}" for outcome, count in outcomes.items() if count))
    survivors = [v for v in verdicts if v.outcome == "survived"]
    for survivor in survivors:
        print(f"\nSURVIVED ({survivor.mutant.kind}): {survivor.why}\n{survivor.mutant.diff()}")
    print(f"{len(verdicts) - len(survivors)} of {len(verdicts)} caught")
    return 1 if survivors else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--each", type=int, default=EACH, help="mutants of each kind")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    arguments = parser.parse_args()
    return run(arguments.seed, arguments.each, arguments.workers)


if __name__ == "__main__":
    sys.exit(main())
