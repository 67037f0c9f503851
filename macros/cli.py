"""The `results` command: works on the data without building the site."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path

from macros import pages, state
from macros.importers import command as import_command
from macros.manifests import Comparison, Manifest, PublishedFigure, Run
from macros.problems import InputError
from macros.site import Site

SCHEMAS: dict[str, type[Manifest]] = {"run": Run, "comparison": Comparison, "published": PublishedFigure}


def checked(root: Path) -> tuple[Site, list[pages.Page]]:
    """The site's input and pages, when nothing is wrong with them; else InputError with all problems."""
    site = state.load(root)
    sources = pages.read(root / "docs")
    problems = pages.check(sources, site)
    if problems:
        raise InputError(problems)
    return site, sources


def _check(arguments: argparse.Namespace) -> int:
    site, sources = checked(arguments.root)
    counts = [
        f"{len(site.dataset.manifests)} manifests",
        f"{len(site.figures)} figures",
        f"{len(site.statements)} statements",
        f"{len(site.charts)} charts",
        f"{len(sources)} pages",
    ]
    print(f"All in order: {', '.join(counts)}.")
    return 0


def _schema(arguments: argparse.Namespace) -> int:
    print(json.dumps(SCHEMAS[arguments.kind].model_json_schema(), indent=2, ensure_ascii=False))
    return 0


def _check_arguments(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(run=_check)


def _schema_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("kind", choices=sorted(SCHEMAS), nargs="?", default="run", help="default: run")
    parser.set_defaults(run=_schema)


# name → (what it does, an example, its arguments)
COMMANDS: dict[str, tuple[str, str, Callable[[argparse.ArgumentParser], None]]] = {
    "import": (import_command.SUMMARY, import_command.EXAMPLE, import_command.arguments),
    "check": ("check all manifests, figures, statements and pages", "results check", _check_arguments),
    "schema": ("print a manifest's JSON Schema", "results schema run > run.schema.json", _schema_arguments),
}


def main(argv: list[str] | None = None) -> int:
    """Runs one command; the exit code is 0, or 1 with every problem on standard error."""
    parser = argparse.ArgumentParser(prog="results", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, (help_text, example, add_arguments) in COMMANDS.items():
        command = commands.add_parser(
            name, help=help_text, description=help_text.capitalize() + ".", epilog=f"Example: {example}"
        )
        command.add_argument("--root", type=Path, default=Path(), help="the project's folder; default: this one")
        add_arguments(command)
    arguments = parser.parse_args(argv)
    try:
        return int(arguments.run(arguments))
    except InputError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Stopped; nothing was changed.", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
