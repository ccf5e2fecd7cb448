"""`make bench`: each figure beside a baseline measured in the same run, as a ratio with its aim."""

import sys
import tempfile
from pathlib import Path

from tests.bench import analysis, growth, pair_cost, report, show, startup


def main() -> None:
    benchmarks = {
        "pair": pair_cost.run,
        "startup": startup.run,
        "show": show.run,
        "growth": growth.run,
        "analysis": analysis.run,
        "report": report.run,
    }
    chosen = sys.argv[1:] or list(benchmarks)
    for name in chosen:
        with tempfile.TemporaryDirectory() as folder:
            for row in benchmarks[name](Path(folder)):
                sys.stdout.write(row + "\n")
                sys.stdout.flush()


if __name__ == "__main__":
    main()
