"""What tests share: the real site, built once in a session, and small copies of the tree to break."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TREE = (
    "docs",
    "results",
    "macros",
    "overrides",
    "mkdocs.yml",
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "CITATION.cff",
)
Build = subprocess.CompletedProcess[str]


def copy_tree(folder: Path) -> Path:
    """What a build needs, in a folder of its own; the drawings that are kept come along."""
    for name in TREE:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        elif source.exists():
            shutil.copy(source, folder / name)
    if (ROOT / ".cache").exists():
        shutil.copytree(ROOT / ".cache", folder / ".cache")
    return folder


def build(folder: Path, **environment: str) -> Build:
    """Runs `python -m macros.build` in a folder, with that folder's own code."""
    settled = os.environ | {"PYTHONPATH": str(folder), "SITE_URL": "", **environment}
    command = [sys.executable, "-m", "macros.build"]
    return subprocess.run(command, cwd=folder, env=settled, capture_output=True, text=True, check=False)


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The real site, built from a copy of the tree."""
    folder = copy_tree(tmp_path_factory.mktemp("site"))
    result = build(folder, SOURCE_DATE_EPOCH="1790000000")
    assert result.returncode == 0, result.stderr
    return folder / "site"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of the tree to change."""
    return copy_tree(tmp_path)


@pytest.fixture
def edit(tree: Path) -> Callable[[str, str, str], None]:
    """Replaces a text in a file of the copy; the text must be there."""

    def replace(name: str, old: str, new: str) -> None:
        path = tree / name
        content = path.read_text("utf-8")
        assert old in content, f"{old!r} is not in {name}"
        path.write_text(content.replace(old, new), "utf-8")

    return replace
