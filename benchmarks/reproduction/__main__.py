"""`python -m benchmarks.reproduction RUNS... [--out docs]`; `make reproduction` makes the runs first."""

import argparse
from pathlib import Path

from benchmarks.reproduction.page import write_page
from heedful.findings.gathering import gather


def main() -> None:
    """Write the page, its figures and its complete tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, default=Path("docs"))
    asked = parser.parse_args()
    write_page(gather(asked.runs).runs, asked.out)


if __name__ == "__main__":
    main()
