"""Run the command line and kill the process, without any clean-up, at its n-th touch of a file below a folder.

Usage: python -m tests.runs.kill_after FOLDER N ARGUMENTS...
"""

import os
import signal
import sys


def main() -> None:
    folder, left = sys.argv[1], int(sys.argv[2])

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal left
        if event in ("open", "os.rename", "os.remove", "os.mkdir", "os.rmdir") and str(arguments[0]).startswith(folder):
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.argv[1:] = sys.argv[3:]
    from heedful.cli.main import main as heedful

    sys.addaudithook(hook)
    heedful()


if __name__ == "__main__":
    main()
