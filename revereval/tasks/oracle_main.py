"""Runs one oracle; started by `oracle.run_oracle`, never imported.

Arguments: snapshot root, oracle, report file, output limit in bytes, and "windows" to pretend it.
The report holds name and file of every module loaded at the end, and every path opened.
"""

import importlib
import json
import os
import resource
import runpy
import sys
import sysconfig
from pathlib import Path

# Loaded before the pretence: on Windows they import modules that only exist there.
BEFORE_PRETENDING = (
    "asyncio", "concurrent.futures.process", "ctypes", "getpass", "locale", "logging",
    "multiprocessing.pool", "ntpath", "platform", "shutil", "signal", "socket", "ssl",
    "subprocess", "sysconfig", "tempfile", "uuid", "webbrowser", "zoneinfo",
)  # fmt: skip
WINDOWS = {"name": "nt", "sep": "\\", "altsep": "/", "pathsep": ";", "linesep": "\r\n"}


def pretend_windows() -> None:
    for name in BEFORE_PRETENDING:
        importlib.import_module(name)
    sysconfig.get_config_vars()  # computed once, from the real platform
    vars(os).update(WINDOWS)
    sys.platform = "win32"


def main() -> None:
    root, oracle, report, limit, *pretence = sys.argv[1:]
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), int(limit)))
    opened: set[str] = set()

    def remember(event: str, arguments: tuple[object, ...]) -> None:
        if event == "open" and isinstance(arguments[0], str | bytes):
            opened.add(os.path.abspath(os.fsdecode(arguments[0])))

    sys.addaudithook(remember)
    sys.path.insert(0, root)
    sys.argv = [oracle]
    real_os, real_platform = {name: getattr(os, name) for name in WINDOWS}, sys.platform
    if pretence:
        pretend_windows()
    try:
        runpy.run_path(oracle, run_name="__main__")
    finally:
        vars(os).update(real_os)
        sys.platform = real_platform
        loaded = {name: getattr(module, "__file__", None) for name, module in sys.modules.items()}
        found = json.dumps({"modules": loaded, "opened": sorted(opened)})
        Path(report).write_text(found, "utf-8")


main()
