"""``python -m embcli``."""

import sys

from embcli.cli.app import main

if __name__ == "__main__":
    sys.exit(main())
