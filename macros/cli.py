"""The `results` command: works on the data without building the site."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

from macros.problems import InputError

# Each command imports what it needs once it is chosen: all of them together take as long as reading half a gigabyte of
# a server's log.


def _check(arguments: argparse.Namespace) -> int:
    from macros import joining
    from macros.checks import checked

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
    from macros.exports import schema
    from macros.manifests import Comparison, Manifest, PublishedFigure, Run

    kinds: dict[str, type[Manifest]] = {"run": Run, "comparison": Comparison, "published": PublishedFigure}
    print(json.dumps(schema(kinds[arguments.kind]), indent=2, ensure_ascii=False))
    return 0


def _diff(arguments: argparse.Namespace) -> int:
    from macros import diff

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


def _import_arguments(parser: argparse.ArgumentParser) -> None:
    from macros.importers import command

    command.arguments(parser)


def _forms_arguments(parser: argparse.ArgumentParser) -> None:
    from macros import issue_forms

    issue_forms.add_arguments(parser)


def _submission_arguments(parser: argparse.ArgumentParser) -> None:
    from macros import submission

    submission.add_arguments(parser)


def _schema_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "kind", choices=["comparison", "published", "run"], nargs="?", default="run", help="default: run"
    )
    parser.set_defaults(run=_schema)


# The exit code of `results diff` where the pages print something else; mistakes are 1.
DIFFERS = 2

# name → (what it does, an example, its arguments)
COMMANDS: dict[str, tuple[str, str, Callable[[argparse.ArgumentParser], None]]] = {
    "check": ("check all manifests, figures, statements and pages", "results check", _check_arguments),
    "import": (
        "make run manifests of the raw outputs of benchmark tools",
        "results import run1.json server.log before.txt after.txt --with launch.txt --set workload.profile=code",
        _import_arguments,
    ),
    "diff": ("show what the pages would print differently", "results diff main --markdown", _diff_arguments),
    "forms": ("write the issue forms from the schema", "results forms", _forms_arguments),
    "submission": (
        "turn a reader's issue into an entry of the register, or say what is missing",
        "results submission issue.md",
        _submission_arguments,
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
    chosen = (sys.argv[1:] if argv is None else argv)[:1]
    for name, (help_text, example, add_arguments) in COMMANDS.items():
        command = commands.add_parser(
            name, help=help_text, description=help_text.capitalize() + ".", epilog=f"Example: {example}"
        )
        command.add_argument("--root", type=Path, default=Path(), help="the project's folder; default: this one")
        if [name] == chosen:
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
