"""Reads the files of `results/` that map ids to small typed entries."""

from __future__ import annotations

from pathlib import Path

from macros import manifests, strict_yaml
from macros.manifests import M
from macros.problems import InputError


def read_entries(path: Path, kind: type[M]) -> dict[str, M]:
    """A mapping of ids to entries of one kind; raises InputError with all problems."""
    file = f"{path.parent.name}/{path.name}"
    data, text, problems = strict_yaml.read(path, file)
    entries: dict[str, M] = {}
    for key, entry in data.items() if isinstance(data, dict) else ():
        model, more = manifests.validate_entry(entry, text, file, kind, key)
        problems += more
        if model:
            entries[key] = model
    if problems:
        raise InputError(problems)
    return entries
