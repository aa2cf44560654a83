"""Work of one second that needs no processor, so that only the scheduling is measured. Imports nothing heavy."""

import time


def second() -> None:
    time.sleep(1.0)
