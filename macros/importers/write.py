"""Manifests as YAML files, each written whole or not at all, and never over an existing one without being told to."""

from __future__ import annotations

import datetime
import hashlib
import subprocess
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

import yaml

from macros import strict_yaml
from macros.files import atomically, existing
from macros.manifests import Run, validate
from macros.problems import InputError, Problem

RUNS, DRAFTS = Path("results/runs"), Path("results/drafts")
Outcome = Literal["written", "unchanged", "replaced"]


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)


def _decimal(dumper: _Dumper, value: Decimal) -> yaml.ScalarNode:
    """All recorded digits and no exponent, as strict_yaml reads them."""
    text = f"{value:f}"
    return dumper.represent_scalar(f"tag:yaml.org,2002:{'float' if '.' in text else 'int'}", text)


_Dumper.add_representer(Decimal, _decimal)


def dump(data: dict[str, Any], header: str = "") -> str:
    """YAML text; `header` lines become comments."""
    comment = "".join(f"# {line}\n" for line in header.splitlines())
    return comment + yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=10_000)


def checked(data: dict[str, Any], file: str, ignore: set[str] = frozenset()) -> str:  # type: ignore[assignment]
    """The YAML text of a manifest that reads back as a valid Run; raises InputError with what is wrong."""
    text = dump(data)
    parsed, problems = strict_yaml.parse(text, file)
    if not problems:
        _, problems = validate(parsed, text, file, Run)
    problems = [p for p in problems if p.field not in ignore]
    if problems:
        raise InputError(problems)
    return text


@dataclass(frozen=True)
class Target:
    """A file to be written. `old` is the text it replaces, `keep` where a published one goes."""

    path: Path
    text: str
    old: str | None = None
    keep: Path | None = None
    kept_text: str = ""

    @property
    def outcome(self) -> Outcome:
        return "written" if self.old is None else "unchanged" if self.old == self.text else "replaced"


def plan(root: Path, run_id: str, text: str, replace: bool) -> Target:
    """What writing a finished manifest would do. Raises InputError where another one is in the way."""
    path = root / RUNS / f"{run_id}.yaml"
    old = existing(path)
    if old is None:
        return Target(path, text)
    if old == text:
        return Target(path, text, old)
    if not replace:
        name = str(RUNS / path.name)
        raise InputError([Problem(name, 0, 0, "", "no manifest of this id, or --replace", "another one; it was kept")])
    if not _published(root, path):
        return Target(path, text, old)
    kept_id = f"{run_id[:66].rstrip('-')}-old-{hashlib.sha256(old.encode()).hexdigest()[:8]}"
    return Target(path, text, old, path.with_name(f"{kept_id}.yaml"), _superseded(old, kept_id, run_id))


def _published(root: Path, path: Path) -> bool:
    """Whether git has the file, so that the site may have shown it. Where git cannot tell, it counts as published."""
    name = f"HEAD:./{path.relative_to(root)}"
    try:
        done = subprocess.run(["git", "cat-file", "-e", name], cwd=root, capture_output=True, check=False, timeout=20)
        inside = subprocess.run(["git", "rev-parse", "HEAD"], cwd=root, capture_output=True, check=False, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return True
    return done.returncode == 0 or inside.returncode != 0


def _superseded(old: str, kept_id: str, successor: str) -> str:
    """The replaced manifest under a new id, as superseded by its successor."""
    data, problems = strict_yaml.parse(old, f"{successor}.yaml")
    if problems or not isinstance(data, dict):
        raise InputError(problems or [Problem(f"{successor}.yaml", 0, 0, "", "a manifest", "something else")])
    data["id"] = kept_id
    data["correction"] = {
        "status": "superseded",
        "date": datetime.date.today(),
        "reason": {
            "en": "Replaced by a new import of the raw outputs.",
            "ru": "Заменено новым импортом исходных результатов.",
        },
        "successor": successor,
    }
    return checked(data, f"{kept_id}.yaml")


def write(target: Target) -> Outcome:
    """Writes the kept manifest first, then the new one: at no moment is a published figure without a file."""
    if target.outcome != "unchanged":
        if target.keep and not target.keep.exists():
            atomically(target.keep, target.kept_text)
        atomically(target.path, target.text)
    return target.outcome
