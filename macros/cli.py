"""The `results` command. Each subcommand is a module with DESCRIPTION, EXAMPLE, arguments() and run()."""

from __future__ import annotations

import argparse
import importlib
import sys
from typing import Any

from macros.problems import InputError

# name → module, imported only when its command is asked for; the summary stands here so that --help is quick.
COMMANDS: dict[str, tuple[str, str]] = {
    "import": ("macros.importers.command", "make a run manifest of a benchmark tool's raw output"),
}


def parser_of(name: str, module: Any) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=f"results {name}",
        description=module.DESCRIPTION,
        epilog=module.EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    module.arguments(parser)
    return parser


def usage() -> str:
    lines = [f"  {name:<12}{summary}" for name, (_, summary) in COMMANDS.items()]
    return "\n".join(["usage: results COMMAND … (results COMMAND --help shows an example)", "", *lines])


def main(argv: list[str] | None = None) -> int:
    """Runs one subcommand. 0: done; 1: problems in the input, all printed; 2: wrong usage; 130: interrupted."""
    words = sys.argv[1:] if argv is None else argv
    if not words or words[0] in ("-h", "--help") or words[0] not in COMMANDS:
        asked = bool(words) and words[0] in ("-h", "--help")
        print(usage(), file=sys.stdout if asked else sys.stderr)
        return 0 if asked else 2
    module: Any = importlib.import_module(COMMANDS[words[0]][0])
    args = parser_of(words[0], module).parse_args(words[1:])
    try:
        return int(module.run(args))
    except InputError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted; nothing half-written is left", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
