"""`python -m bench init DIR` for those who have no workspace yet, `python -m bench cassette SCRIPT`; all else is `doit`."""

import sys
from pathlib import Path

from bench.effects import console
from bench.errors import BenchError


def main(argv: list[str]) -> int:
    """Run one of the two commands and give its exit code."""
    if argv[:1] == ["init"] and len(argv) == 2:
        from bench.make.commands.init import make

        make(Path(argv[1]))
    elif argv[:1] == ["cassette"] and len(argv) == 2:
        from bench.make.authoring import write

        console.say(f"wrote {write(Path(argv[1]))}")
    else:
        console.say_err("usage: python -m bench init DIR | cassette SCRIPT   (everything else: doit)")
        return 2
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except BenchError as error:
        console.say_err(f"error: {error}")
        sys.exit(error.exit_code)
