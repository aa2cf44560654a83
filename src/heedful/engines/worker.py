"""The main function of a local worker process: reads tasks as lines of JSON, answers each with its outcome."""

import json
import os
import signal
import threading
from queue import SimpleQueue

from heedful.engines.task import Task, attempt


def main() -> None:
    """Run tasks until told to stop, or until the parent process is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes of a terminal; the parent decides
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # an exception, so that half-written files are removed
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what libraries print is not an answer
    tasks: SimpleQueue[str] = SimpleQueue()
    threading.Thread(target=_listen, args=(tasks,), daemon=True).start()
    try:
        while True:
            outcome = attempt(Task(**json.loads(tasks.get())))
            print(json.dumps(outcome._asdict()), file=answers, flush=True)
    except (KeyboardInterrupt, BrokenPipeError):
        os._exit(1)


def _listen(tasks: SimpleQueue[str]) -> None:
    with open(0, encoding="utf-8", closefd=False) as lines:
        for line in lines:
            tasks.put(line)
    os._exit(1)  # the parent is gone; runs resume from any moment
