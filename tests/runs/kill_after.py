"""Run the command line in processes that are killed, with no clean-up, at their n-th touch of a file below a folder.

Usage: python -m tests.runs.kill_after ARGUMENTS..., with lines `FOLDER N` on standard input; `{}` in an argument is
the folder. Each line is answered by the exit code of its process, negative if a signal ended it. All processes are
forked from one that has imported what they need, so that they start at once.
"""

import os
import signal
import sys


def main() -> None:
    import heedful.runs.execution
    import heedful.runs.experiment_stages
    import heedful.runs.stages
    from heedful.cli.main import main as heedful

    for line in sys.stdin:
        folder, left = line.rsplit(maxsplit=1)
        process = os.fork()
        if process == 0:
            sys.argv[1:] = [argument.replace("{}", folder) for argument in sys.argv[1:]]
            os.environ["HEEDFUL_CACHE"] = f"{folder}/cache"
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            _kill_after(folder, int(left))
            heedful()
            os._exit(0)
        print(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), flush=True)


def _kill_after(folder: str, left: int) -> None:
    def hook(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal left
        if event in ("open", "os.rename", "os.remove", "os.mkdir", "os.rmdir") and str(arguments[0]).startswith(folder):
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)


if __name__ == "__main__":
    main()
