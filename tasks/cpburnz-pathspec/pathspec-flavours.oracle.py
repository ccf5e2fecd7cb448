import json

from pathspec import GitIgnoreSpec, PathSpec

CASES = [
    (["/"], "a/b"),
    (["foo/*"], "foo/bar/x.c"),
    (["foo/*"], "foo/bar"),
    (["*.o["], "x.o["),
    (["foo/"], "foo"),
    (["foo/"], "foo/x"),
    (["**/"], "x"),
    (["*/"], "x/y"),
    (["*", "!/"], "x"),
    (["*", "!/"], "a/x"),
    (["//"], "x"),
    (["docs/*", "!docs/api/"], "docs/api/x"),
    (["!foo/x", "foo/"], "foo/x"),
    (["foo", "!foo/"], "foo/x"),
    (["*.c", "!src/"], "src/x.c"),
]


def basic(lines):
    return PathSpec.from_lines("gitignore", lines, backend="simple")


def git(lines):
    return GitIgnoreSpec.from_lines(lines, backend="simple")


def matched(make):
    return [n for n, (lines, file) in enumerate(CASES, 1) if make(lines).match_file(file)]


def noop(make):
    lines = ["/", "!/", "//", "*.o[", "#x", "\\#x", "**"]
    return [line for line in lines if make([line]).patterns[0].include is None]


def refused(make):
    found = []
    for line in ("!", "\\", "\\ ", "[", "[]", "[!]"):
        try:
            make([line])
        except Exception:
            found.append(line)
    return found


print(
    json.dumps(
        {
            "basic": matched(basic),
            "git": matched(git),
            "noop": [noop(basic), noop(git)],
            "refused": [refused(basic), refused(git)],
            "regex": [make(["foo/*"]).patterns[0].regex.pattern for make in (basic, git)],
        }
    )
)
