import copy
import json
import re

from pathspec.pattern import RegexPattern
from pathspec.util import (
    AlreadyRegisteredError,
    detailed_match_files,
    match_file,
    normalize_file,
    register_pattern,
)

paths = ["/src/app.py", "docs/src.md", "lib\\src\\main.py", "/./src/tool.py", "./README"]
names = [normalize_file(path) for path in paths]

source = RegexPattern("src")
python = RegexPattern(re.compile(r"\.py$"), True)
undecided = RegexPattern(re.compile("README"))
tools = RegexPattern(re.compile("tool"), False)
others = RegexPattern(re.compile("README|tool"), False)

last = detailed_match_files([source, python, undecided, tools], names)
every = detailed_match_files([python, source], names, all_matches=True)
try:
    detailed_match_files([source, python, others], names)
except KeyError as exc:
    missing = names.index(exc.args[0])

twin = RegexPattern("^src")
try:
    register_pattern("length", len)
    register_pattern("size", len, override=False)
    register_pattern("length", str)
except AlreadyRegisteredError as exc:
    complaint = exc.message

answer = {
    "last": {name: [str(p) for p in detail.patterns] for name, detail in last.items()},
    "counts": [len(detail.patterns) for detail in every.values()],
    "missing": missing,
    "same": [
        copy.copy(source) == RegexPattern(re.compile("src"), True),
        undecided == RegexPattern(re.compile("README"), True),
        match_file([twin, undecided], "README"),
        undecided.match_file("README") is None,
    ],
    "complaint": complaint,
}
print(json.dumps(answer))
