"""The way out of an ending generator: only a face and a hook know it, and a drop-in fork builds the same site."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import BUILT, ROOT, Tree

PROPERDOCS = "properdocs==1.6.7"

GENERATORS = {"mkdocs", "material", "mkdocs_macros", "mkdocs_static_i18n", "properdocs", "zensical"}
# The face to mkdocs-macros, the hook, and the command that starts the generator as a program.
FACES = {"macros/__init__.py", "macros/hooks.py"}


def imported(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {name.name.split(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.split(".")[0])
    return found


def test_no_module_imports_a_generator() -> None:
    for path in (ROOT / "macros").rglob("*.py"):
        assert not imported(path) & GENERATORS, path


def test_reading_the_data_loads_no_generator_and_no_drawing_library() -> None:
    code = (
        "import sys; from pathlib import Path; from macros.checks import checked; checked(Path());"
        "print([n for n in sys.modules if n.split('.')[0] in "
        f"{sorted(GENERATORS | {'matplotlib', 'numpy'})!r}])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_fork_properdocs_builds_the_same_tree_and_nothing_is_drawn_again(
    tree: Tree, site: Path, tmp_path: Path
) -> None:
    """The fork is laid over the installed packages for this test only; the library that draws is not even there."""
    fork = tmp_path / "fork"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(fork), PROPERDOCS]
    done = subprocess.run(pip, capture_output=True, text=True, check=False)
    generator = "mkdocs" if done.returncode else "properdocs"
    tree.take_cache()
    tree.write("matplotlib.py", "raise ImportError('drawn again')\n")
    out = tree.root / "out"
    search = f"{tree.root}{os.pathsep}{fork}"
    outcome = tree.run(
        "-m", generator, "build", "--strict", "-f", "mkdocs.yml", "-d", str(out), PYTHONPATH=search,
        SOURCE_DATE_EPOCH=BUILT,
    )  # fmt: skip
    assert outcome.ok, outcome.output
    differing = {
        p.relative_to(site).as_posix() for p in site.rglob("*")
        if p.is_file() and (not (there := out / p.relative_to(site)).exists() or plain(there) != plain(p))
    }  # fmt: skip
    assert differing <= {"checksums.txt"}
    assert {p.relative_to(out) for p in out.rglob("*")} == {p.relative_to(site) for p in site.rglob("*")}
    if done.returncode:
        pytest.skip(f"{PROPERDOCS} cannot be installed here: {done.stderr.strip().splitlines()[-1]}")


def plain(path: Path) -> bytes:
    """A file without the tag in which a generator names itself."""
    return re.sub(rb'<meta name="generator"[^>]*>', b"", path.read_bytes())
