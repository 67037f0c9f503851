"""The `results` command: works on the data without building the site."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

from macros import diff, issue_forms, joining, submission
from macros.checks import checked
from macros.exports import schema
from macros.importers import command as import_command
from macros.manifests import Comparison, Manifest, PublishedFigure, Run
from macros.problems import InputError

SCHEMAS: dict[str, type[Manifest]] = {"run": Run, "comparison": Comparison, "published": PublishedFigure}


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
    for run in joining.outside(site):
        print(f"Note: {site.dataset.files[run.id]} {joining.why(run, site)}.")
    return 0


def _schema(arguments: argparse.Namespace) -> int:
    print(json.dumps(schema(SCHEMAS[arguments.kind]), indent=2, ensure_ascii=False))
    return 0


def _diff(arguments: argparse.Namespace) -> int:
    found = diff.report(arguments.root, arguments.revision)
    print(diff.markdown(found) if arguments.markdown else diff.text(found))
    return 0 if found.empty else DIFFERS


def _diff_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("revision", nargs="?", default="HEAD", help="a git revision; default: what is committed")
    parser.add_argument("--markdown", action="store_true", help="as Markdown, for a comment on a pull request")
    parser.epilog = (
        f"{parser.epilog}. Exit code: 0 where the data prints the same, {DIFFERS} where it does not, 1 for mistakes."
    )
    parser.set_defaults(run=_diff)


def _check_arguments(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(run=_check)


def _schema_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("kind", choices=sorted(SCHEMAS), nargs="?", default="run", help="default: run")
    parser.set_defaults(run=_schema)


# The exit code of `results diff` where the pages print something else; mistakes are 1.
DIFFERS = 2

# name → (what it does, an example, its arguments)
COMMANDS: dict[str, tuple[str, str, Callable[[argparse.ArgumentParser], None]]] = {
    "check": ("check all manifests, figures, statements and pages", "results check", _check_arguments),
    "import": (import_command.SUMMARY, import_command.EXAMPLE, import_command.arguments),
    "diff": ("show what the pages would print differently", "results diff main --markdown", _diff_arguments),
    "forms": ("write the issue forms from the schema", "results forms", issue_forms.add_arguments),
    "submission": (
        "turn a reader's issue into an entry of the register, or say what is missing",
        "results submission issue.md",
        submission.add_arguments,
    ),
    "schema": ("print a manifest's JSON Schema", "results schema run > run.schema.json", _schema_arguments),
}


def _drop_output() -> None:
    """Lets Python end quietly where what is still buffered cannot be written (see its documentation on SIGPIPE)."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def main(argv: list[str] | None = None) -> int:
    """Runs one command; the exit code is 0, or 1 with every problem on standard error; of a diff also 2."""
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
        code = int(arguments.run(arguments))
        sys.stdout.flush()  # here, where a full disk or a closed pipe can still be reported
        return code
    except InputError as error:
        print(error, file=sys.stderr)
        return 1
    except OSError as error:
        print(f"{error.filename or 'output'}: {error.strerror}", file=sys.stderr)
        _drop_output()
        return 1
    except KeyboardInterrupt:
        print("Stopped; nothing was changed.", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
