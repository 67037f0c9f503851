"""The worked examples of the data page: real files, shown as they are and run by the tests."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path("docs/assets/examples")
LANGUAGES = {".py": "python", ".mjs": "javascript"}


def block(root: Path, name: str) -> str:
    """A file of the examples as a block of code."""
    content = (root / FOLDER / name).read_text("utf-8").rstrip("\n")
    return f"```{LANGUAGES[Path(name).suffix]}\n{content}\n```"
