"""The command line of `results import`: reads files, asks for what is missing, writes manifests or drafts."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from tqdm import tqdm

from macros import importers, strict_yaml
from macros.files import atomically, project
from macros.importers import write
from macros.importers.assemble import GIVEN, HINTS, Assembled, assemble
from macros.importers.keys import TYPES, fitting
from macros.importers.rawfile import RawFile
from macros.importers.reading import Extract, Stated
from macros.importers.scrub import clean
from macros.problems import InputError, Problem

DESCRIPTION = """\
Turns raw outputs of benchmark tools into manifests that say exactly what was measured.

Give all files of one run together: the client's JSON, the server's log, two scrapes of /metrics (first the
one from before the run), and with --with the launch command, recipe, docker inspect output, or YAML with a
manifest's keys. Several runs of one configuration become one manifest with a sample each; a file with several
configurations becomes several manifests (--case picks one).

A finished manifest goes to results/runs/ID.yaml and is published with the site. Where a key that matters for
comparing is stated nowhere, a draft goes to results/drafts/ID.yaml instead, and the exit code is 3. Drafts are
ignored by git, never published, and written anew by each import, so keep your values in --set or a sidecar.
State what nobody knows as such: --set runtime.image_digest=null."""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = DESCRIPTION
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.set_defaults(run=run)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="raw outputs and logs of one run")
    for name, metavar, text in (
        ("--with", "FILE", "configuration: launch command, recipe, docker inspect, or YAML with a manifest's keys"),
        ("--set", "KEY=VALUE", "a key of the manifest, such as workload.profile=code; null says that nobody knows"),
    ):
        parser.add_argument(name, dest=name[2:] + "s", action="append", default=[], metavar=metavar, help=text)
    for name, metavar, text in (
        ("--case", "NAME", "only this configuration of a file that holds several"),
        ("--seconds", "S", "wall time between the two scrapes of /metrics"),
        ("--id", "ID", "the manifest's id; default: model, tool, configuration and a hash of the files"),
    ):
        parser.add_argument(name, metavar=metavar, help=text)
    parser.add_argument("--dry-run", action="store_true", help="print the manifests and write nothing")
    parser.add_argument(
        "--replace", action="store_true", help="replace a manifest of this id; a published one is kept as superseded"
    )


def run(args: argparse.Namespace) -> int:
    """0: manifests written or unchanged; 3: drafts only, something is missing. Bad input raises InputError."""
    given = settings(args.sets)
    seconds = _seconds(args.seconds)
    run_id: str | None = args.id
    if run_id is not None and (len(run_id) > 80 or not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", run_id)):
        expected = "at most 80 lower-case letters, digits and single hyphens"
        raise InputError([Problem("--id", 0, 0, "", expected, clean(run_id, 100) or "nothing")])
    if not args.dry_run:
        project(args.root)
    extracts = _read(
        args.files, [Path(name) for name in args.withs], {key: stated.value for key, stated in given.items()}
    )
    made = assemble(extracts, given, seconds, args.case, run_id)
    if sys.stdin.isatty() and sys.stderr.isatty() and not args.dry_run:
        more = _ask({key for one in made for key in one.missing})
        if more:
            made = assemble(extracts, {**given, **more}, seconds, args.case, run_id)
    return _write(made, args)


def settings(pairs: list[str]) -> dict[str, Stated]:
    """--set KEY=VALUE, each checked against the type of its key; raises InputError with all mistakes."""
    result: dict[str, Stated] = {}
    problems: list[Problem] = []
    for pair in pairs:
        key, equals, text = pair.partition("=")
        try:
            if not equals:
                raise InputError([Problem("--set", 0, 0, clean(pair, 80), "KEY=VALUE", "no equals sign")])
            result[key] = Stated(_checked(key, text), GIVEN, key)
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(problems)
    return result


def _checked(key: str, text: str) -> Any:
    """The value of a key: as YAML reads the text where that fits its type, else the text itself; cleaned either way."""
    value, problems = strict_yaml.parse(text, "--set")
    read = [] if problems else [clean(value, 300) if isinstance(value, str) else value]
    return fitting(clean(key, 80), [*read, clean(text, 300)], "--set")


def _seconds(text: str | None) -> Decimal | None:
    if text is None:
        return None
    try:
        value = Decimal(text)
    except InvalidOperation:
        value = Decimal(0)
    if not value.is_finite() or not 0 < value < 10**8:
        raise InputError([Problem("--seconds", 0, 0, "", "a number of seconds above 0", clean(text, 40))])
    return value


def _read(files: list[Path], sidecars: list[Path], given: dict[str, Any]) -> list[Extract]:
    """Every file, or the problems of all of them."""
    extracts: list[Extract] = []
    problems: list[Problem] = []
    for path, sidecar in [*((f, False) for f in files), *((f, True) for f in sidecars)]:
        try:
            file = RawFile.open(path)
            if sidecar:
                extracts.append(importers.sidecar(file))
            else:
                with _progress(file) as progress:
                    extracts.append(importers.extract(file, given, progress))
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(problems)
    return extracts


@contextmanager
def _progress(file: RawFile) -> Iterator[Callable[[int], None]]:
    """A bar on a terminal, for files that take long enough to see one."""
    tqdm.monitor_interval = 0  # no thread: a log is read in forked processes, which are only safe without
    hidden = file.size < 1 << 25 or not sys.stderr.isatty()
    with tqdm(total=file.size, desc=file.name, unit="B", unit_scale=True, leave=False, disable=hidden) as bar:
        yield lambda count: (bar.update(count), None)[1]


def _ask(missing: set[str]) -> dict[str, Stated]:
    """Asks for each missing key. Enter leaves it missing; null says that nobody knows."""
    answers: dict[str, Stated] = {}
    for key in [key for key in TYPES if key in missing]:
        while True:
            try:
                text = input(f"{key} ({HINTS.get(key, 'value')}; null: nobody knows; Enter: leave out): ").strip()
            except EOFError:
                return answers
            if not text:
                break
            try:
                answers[key] = Stated(_checked(key, text), GIVEN, key)
                break
            except InputError as error:
                print(error.problems[0], file=sys.stderr)
    return answers


def _write(made: list[Assembled], args: argparse.Namespace) -> int:
    """Checks and plans everything first, so that a problem in the last manifest leaves the first unwritten too."""
    problems: list[Problem] = []
    targets: list[tuple[Assembled, write.Target]] = []
    for one in made:
        draft = bool(one.missing or one.blockers)
        try:
            text = write.checked(one.data, f"{one.id}.yaml", set(one.missing) if draft else set())
            if draft:
                path = args.root / write.DRAFTS / f"{one.id}.yaml"
                targets.append((one, write.Target(path, write.dump(one.data, _draft_header(one)))))
            else:
                targets.append((one, write.plan(args.root, one.id, text, args.replace)))
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(problems)
    for one, target in targets:
        _report(one, target, args)
    return 3 if any(one.missing or one.blockers for one in made) else 0


def _draft_header(one: Assembled) -> str:
    lines = ["A draft of results import: not published, and written anew by the next import."]
    lines += [f"blocked: {reason}" for reason in one.blockers]
    return "\n".join(lines + [f"missing: {key} ({HINTS.get(key, f'--set {key}=…')})" for key in one.missing])


def _report(one: Assembled, target: write.Target, args: argparse.Namespace) -> None:
    draft = bool(one.missing or one.blockers)
    if args.dry_run:
        print(f"--- {target.path.relative_to(args.root)}\n{target.text}", end="")
    elif draft:
        atomically(target.path, target.text)
        print(f"{target.path.relative_to(args.root)}: draft, not published")
    else:
        outcome = write.write(target)
        (args.root / write.DRAFTS / target.path.name).unlink(missing_ok=True)
        print(f"{target.path.relative_to(args.root)}: {outcome}")
        if outcome == "replaced" and target.keep:
            print(f"{target.keep.relative_to(args.root)}: the replaced manifest, superseded")
    for measurement in one.data["measurements"]:
        print(f"  {line(measurement, one.data)}")
    for held in one.withheld:
        print(f"  not taken: {held.what}: {held.why}")
    for reason in one.blockers:
        print(f"  blocked: {reason}")
    for key in one.missing:
        print(f"  missing: {key} ({HINTS.get(key, f'--set {key}=…')})")


def line(measurement: dict[str, Any], data: dict[str, Any]) -> str:
    """One measurement in words: what, of what, seen from where."""
    method = data["method"]
    words = [
        f"{measurement['quantity']} {measurement['statistic']} {measurement['value']} {measurement['unit']}",
        f"n {measurement['n'] if measurement['n'] is not None else 'unknown'}",
        f"{measurement.get('vantage') or method.get('vantage') or 'vantage unknown'}",
        f"{measurement.get('window') or method.get('window') or 'no window'}",
        f"tokens: {measurement.get('token_accounting') or method.get('token_accounting') or 'unknown'}",
        f"concurrency {data['workload'].get('concurrency') or 'not stated'}",
    ]
    if measurement.get("requests_failed"):
        words.append(f"{measurement['requests_failed']} requests failed")
    return ", ".join(words)
