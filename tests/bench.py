"""What a build costs, as ratios within one run: `make bench`. Nothing here passes or fails by a time.

The baseline is plain Material with static-i18n over the same pages, all numbers, charts and lists typed in: the
Markdown as it leaves the macros. Ratios are of processor seconds, which other work on the machine moves least, and
beside them of seconds on the clock; each is a median of several rounds in which the builds take turns.
"""

from __future__ import annotations

import argparse
import math
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from tqdm import tqdm

from tests import example_manifests
from tests.conftest import ROOT, Tree

CAPTURE = """
from pathlib import Path
def on_page_markdown(markdown, page, config, files):
    from macros import binding, blocks
    out = Path(config.config_file_path).parent / "plain" / "docs" / page.file.src_uri
    out.parent.mkdir(parents=True, exist_ok=True)
    known = {key: binding.strip(page.meta[key]) for key in ("title", "description") if key in page.meta}
    meta = "".join(f"{key}: {value!r}\\n" for key, value in known.items())
    out.write_text(f"---\\n{meta}---\\n\\n{binding.strip(blocks.finish(markdown))}", "utf-8")
on_page_markdown.mkdocs_priority = -100
"""
NO_GATE = """
def on_post_build(config):
    from macros.gate import Gate
    Gate.site_folder = lambda self, folder: None
on_post_build.mkdocs_priority = -150
"""
PARSE = """
import gc, resource, sys, time
from pathlib import Path
import yaml
folder, what = Path(sys.argv[1]), sys.argv[2]
if what == "read":
    from macros import dataset
start = time.process_time()
if what == "bare":
    for path in sorted((folder / "runs").glob("*.yaml")):
        yaml.load(path.read_bytes(), Loader=yaml.CSafeLoader)
else:
    dataset.load(folder)
print(time.process_time() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


class Cost(NamedTuple):
    """Seconds of the processors and on the clock."""

    processor: float
    clock: float


def spent(command: list[str], cwd: Path) -> Cost:
    """What a command costs with all that it starts."""
    start = time.perf_counter()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = os.environ | {
        "PYTHONPATH": str(cwd if (cwd / "macros").exists() else ROOT),
        "NO_MKDOCS_2_WARNING": "1",
    }
    # Where it is set, the package is compiled anew in each build, and what pip installed is not.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(processor, time.perf_counter() - start)


def median(costs: list[Cost]) -> Cost:
    return Cost(*map(statistics.median, zip(*costs, strict=True)))


def build(tree: Path, config: str = "mkdocs.yml") -> Cost:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", config, "-d", str(tree / "out")]
    return spent(command, tree)


def prepare(root: Path) -> Tree:
    """A copy of the project with the configurations of the benchmark, and the plain site in plain/."""
    tree = Tree.copy(root)
    if (ROOT / ".cache").is_dir():
        shutil.copytree(ROOT / ".cache", root / ".cache")
    tree.write("capture.py", CAPTURE)
    tree.write("no_gate.py", NO_GATE)
    tree.write("capture.yml", "INHERIT: mkdocs.yml\nhooks: [macros/hooks.py, capture.py]\n")
    tree.write("no-gate.yml", "INHERIT: mkdocs.yml\nhooks: [macros/hooks.py, no_gate.py]\n")
    build(root, "capture.yml")
    plain = re.sub(r"\n  - macros:\n(?:      .*\n)+", "\n", tree.read("mkdocs.yml"))
    plain = re.sub(r"\n(?:hooks|watch|  custom_dir): .*", "", plain)
    tree.write("plain/mkdocs.yml", plain.replace("strict: true", "strict: false").replace("warn", "info"))
    shutil.copytree(root / "docs/assets", root / "plain/docs/assets", dirs_exist_ok=True)
    return tree


def change(tree: Tree, number: int) -> None:
    """Another value in one manifest, never the same twice."""
    file = "results/runs/heavy-c1.yaml"
    tree.write(file, re.sub(r"value: 43\.\d+", f"value: 43.{[6, 8, 5, 9][number % 4]}", tree.read(file)))


def site(rounds: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        tree = prepare(Path(folder) / "tree")
        root = tree.root
        build(root)

        def changed() -> Cost:
            change(tree, len(seconds["one manifest changed, without the gate"]))
            took = build(root, "no-gate.yml")
            tree.write("results/runs/heavy-c1.yaml", (ROOT / "results/runs/heavy-c1.yaml").read_bytes())
            return took

        kinds: dict[str, Callable[[], Cost]] = {
            "plain": lambda: spent(
                [sys.executable, "-m", "mkdocs", "build", "-d", str(root / "plain-out")], root / "plain"
            ),
            "warm, without the gate": lambda: build(root, "no-gate.yml"),
            "one manifest changed, without the gate": changed,
            "with the gate": lambda: build(root),
        }
        seconds: dict[str, list[Cost]] = {name: [] for name in kinds}
        for _ in range(rounds):
            for name, run in kinds.items():
                seconds[name].append(run())
        allowed = {"warm, without the gate": 1.4, "one manifest changed, without the gate": 1.4, "with the gate": 1.8}
        base = median(seconds["plain"])
        for name, each in seconds.items():
            rounds_of_it = " ".join(f"{cost.processor:.2f}" for cost in each)
            wanted = f"  (wanted: {allowed[name]}×)" if name in allowed else ""
            print(f"{name:<42}{_ratios(median(each), base)}{wanted}   {rounds_of_it}", flush=True)
        shutil.rmtree(root / ".cache")
        cold = build(root)
        drawn = len(list((root / ".cache/charts").iterdir()))
        more = cold.processor - median(seconds["with the gate"]).processor
        print(f"{'cold, with the gate':<42}{_ratios(cold, base)}   {more / drawn:.2f} s for each of {drawn} drawings")


def _ratios(cost: Cost, base: Cost) -> str:
    ratio, on_the_clock = cost.processor / base.processor, cost.clock / base.clock
    return f"{cost.processor:>7.2f} s{ratio:>7.2f}×   clock {cost.clock:>6.2f} s{on_the_clock:>7.2f}×"


def manifests(most: int) -> None:
    """Reading generated manifests, and reading them again, against parsing the same files with PyYAML's C loader."""
    took: dict[str, dict[int, float]] = {"read": {}, "read again, nothing changed": {}}
    wanted = {"read": 1.4, "read again, nothing changed": 0.2}
    for count in (100, 1000, most):
        with tempfile.TemporaryDirectory() as folder:
            runs = Path(folder) / "results" / "runs"
            runs.mkdir(parents=True)
            for index in range(count):
                (runs / f"run-{index}.yaml").write_text(example_manifests.run(f"run-{index}"), "utf-8")
            seconds: dict[str, list[float]] = {"bare": [], "read": [], "read again, nothing changed": []}
            memory = 0.0
            for _ in tqdm(range(9 if count <= 1000 else 3), desc=f"{count} manifests", leave=False):
                shutil.rmtree(Path(folder) / ".cache", ignore_errors=True)
                for what, each in seconds.items():
                    command = [sys.executable, "-c", PARSE, str(runs.parent), "bare" if what == "bare" else "read"]
                    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
                    each.append(float(said[0]))
                    memory = max(memory, float(said[1]))
            bare = statistics.median(seconds["bare"])
            print(f"{count:,} manifests: PyYAML's C loader {bare:.3f} s; memory {memory:.0f} MB (wanted: below 400 MB)")
            for what, limit in wanted.items():
                took[what][count] = statistics.median(seconds[what])
                ratios = sorted(a / b for a, b in zip(seconds[what], seconds["bare"], strict=True))
                ratio = (
                    f"{statistics.median(ratios):>6.2f}× (wanted: {limit}×; rounds {ratios[0]:.2f} to {ratios[-1]:.2f})"
                )
                print(f"  {what:<28}{took[what][count]:>8.3f} s{ratio}", flush=True)
    for what, each_count in took.items():
        power = math.log(each_count[most] / each_count[100]) / math.log(most / 100)
        print(f"{what}: grows with the number of files to the power of {power:.2f} (wanted: 1)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--manifests", type=int, default=10_000)
    parser.add_argument("--only", choices=("site", "manifests"))
    arguments = parser.parse_args()
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors; {time.strftime('%F %H:%M')}")
    if arguments.only != "manifests":
        site(arguments.rounds)
    if arguments.only != "site":
        manifests(arguments.manifests)


if __name__ == "__main__":
    main()
