"""Runs one oracle; started by `oracle.run_oracle`, never imported.

Arguments: snapshot root, oracle, report file, output limit in bytes, then any of "windows", to
pretend it, and "trace". The report holds name and file of every module loaded at the end, every
path opened, and, when tracing, each function below the root that the oracle's run called.
"""

import importlib
import json
import os
import resource
import runpy
import sys
import sysconfig
import threading
from pathlib import Path
from types import CodeType, FrameType

# Loaded before the pretence: on Windows they import modules that only exist there.
BEFORE_PRETENDING = (
    "asyncio", "concurrent.futures.process", "ctypes", "getpass", "locale", "logging",
    "multiprocessing.pool", "ntpath", "platform", "shutil", "signal", "socket", "ssl",
    "subprocess", "sysconfig", "tempfile", "uuid", "webbrowser", "zoneinfo",
)  # fmt: skip
WINDOWS = {"name": "nt", "sep": "\\", "altsep": "/", "pathsep": ";", "linesep": "\r\n"}
CO_OPTIMIZED = 1
"""As in `inspect`, which no oracle should find loaded for it."""
COMPREHENSIONS = {"<listcomp>", "<dictcomp>", "<setcomp>", "<genexpr>"}


def pretend_windows() -> None:
    for name in BEFORE_PRETENDING:
        importlib.import_module(name)
    sysconfig.get_config_vars()  # computed once, from the real platform
    vars(os).update(WINDOWS)
    sys.platform = "win32"


class Tracer:
    """Remembers the functions below a root that are called while no module is being imported.

    A frame is asked about once, when it begins: what it does then is not traced.
    """

    def __init__(self, root: str, oracle: str) -> None:
        self._below, self._oracle = root + os.sep, oracle
        self._called: dict[int, CodeType] = {}
        """By identity: equal code objects are compared at length."""

    def __call__(self, frame: FrameType, _event: str, _argument: object) -> None:
        code = frame.f_code
        if id(code) in self._called or not code.co_filename.startswith(self._below):
            return
        # a class body is no function, and a comprehension belongs to the one around it
        is_function = code.co_flags & CO_OPTIMIZED and code.co_name not in COMPREHENSIONS
        if is_function and not self._importing(frame):
            self._called[id(code)] = code

    def _importing(self, frame: FrameType | None) -> bool:
        """Whether a module's body is nearer than the oracle's; generated code has no file."""
        while frame:
            file = frame.f_code.co_filename
            if frame.f_code.co_name == "<module>" and not file.startswith("<"):
                return file != self._oracle
            frame = frame.f_back
        return False

    @property
    def called(self) -> list[tuple[str, str, int, int]]:
        """(file, qualified name, first line, last line) of each."""
        return sorted(
            (code.co_filename, code.co_qualname, code.co_firstlineno, last_line(code))
            for code in self._called.values()
        )


def last_line(code: CodeType) -> int:
    """The last line of a function, the functions inside it included."""
    inner = [last_line(part) for part in code.co_consts if isinstance(part, CodeType)]
    return max([code.co_firstlineno, *inner, *(line or 0 for _, _, line in code.co_lines())])


def main() -> None:
    root, oracle, report, limit, *options = sys.argv[1:]
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), int(limit)))
    opened: set[str] = set()

    def remember(event: str, arguments: tuple[object, ...]) -> None:
        if event == "open" and isinstance(arguments[0], str | bytes):
            opened.add(os.path.abspath(os.fsdecode(arguments[0])))

    sys.addaudithook(remember)
    sys.path.insert(0, root)
    sys.argv = [oracle]
    real_os, real_platform = {name: getattr(os, name) for name in WINDOWS}, sys.platform
    tracer = Tracer(root, oracle)
    if "windows" in options:
        pretend_windows()
    if "trace" in options:
        threading.settrace(tracer)
        sys.settrace(tracer)
    try:
        runpy.run_path(oracle, run_name="__main__")
    finally:
        sys.settrace(None)
        vars(os).update(real_os)
        sys.platform = real_platform
        loaded = {name: getattr(module, "__file__", None) for name, module in sys.modules.items()}
        found = {"modules": loaded, "opened": sorted(opened), "called": tracer.called}
        Path(report).write_text(json.dumps(found), "utf-8")


main()
