"""`python -m bench init DIR`, for those who have no workspace yet; everything else is `doit`."""

import sys

from bench.make.commands.init import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
