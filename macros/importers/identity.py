"""Which model was measured, as far as an output names it."""

from __future__ import annotations

import re

from macros.importers.reading import Extract, Withheld
from macros.importers.scrub import clean

_NAME = re.compile(r"[A-Za-z0-9][\w.+-]*(?:/[A-Za-z0-9][\w.+-]*)?\Z", re.ASCII)
_SNAPSHOT = re.compile(r"models--([\w.-]+?)--([\w.-]+)/snapshots/([0-9a-f]{40})")
_MOCK = re.compile(r"(?:mock|fake|dummy)[/_.-]|(?:mock|fake|dummy|test|example_model)\Z", re.I)


def identity(text: str) -> tuple[str | None, str | None]:
    """(repository ORG/NAME or bare name, revision) of a model argument; (None, None) for what names none.

    A path into the hub's cache names both: models--ORG--NAME/snapshots/REVISION.
    """
    snapshot = _SNAPSHOT.search(text)
    if snapshot:
        return f"{snapshot[1]}/{snapshot[2]}", snapshot[3]
    return (text, None) if _NAME.match(text) and len(text) <= 150 and clean(text) == text else (None, None)


def state_model(extract: Extract, text: str | None, place: str) -> None:
    """States repository, name and revision. A mock model blocks publication: no model was measured."""
    if not text:
        return
    model, revision = identity(text)
    if model is None:
        extract.withheld.append(Withheld(place, "a local folder or no model's name: it identifies no model"))
        return
    extract.state("model.repository", model if "/" in model else None, place)
    extract.state("model.name", model.rpartition("/")[2], place)
    extract.state("model.revision", revision, place)
    if _MOCK.match(model):
        extract.blockers.append(f"the model is {model}: no model was measured")
