"""Runs one oracle; started by `oracle.run_oracle`, never imported.

Arguments: snapshot root, oracle, report file, output limit in bytes. The report lists the name and
file of every module loaded at the end: what the oracle really imported.
"""

import json
import resource
import runpy
import sys
from pathlib import Path


def main() -> None:
    root, oracle, report, limit = sys.argv[1:]
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), int(limit)))
    sys.path.insert(0, root)
    sys.argv = [oracle]
    try:
        runpy.run_path(oracle, run_name="__main__")
    finally:
        loaded = {name: getattr(module, "__file__", None) for name, module in sys.modules.items()}
        Path(report).write_text(json.dumps(loaded), "utf-8")


main()
