"""Runs the binary: ``python -m tablerock``."""

import os
import subprocess
import sys

from tablerock._binary import find_binary


def main() -> None:
    command = [find_binary(), *sys.argv[1:]]
    if sys.platform == "win32":
        sys.exit(subprocess.call(command))
    os.execv(command[0], command)


if __name__ == "__main__":
    main()
