import json

from pathspec import GitIgnoreSpec, PathSpec

lines = [
    "# generated",
    "",
    "build/",
    "!build/keep.txt",
    "   ",
    "docs/*",
    "!docs/api/",
    "*.old[",
]
files = [
    "sub/build/keep.txt",
    "/build/keep.txt",
    "docs/api/index.md",
    "docs/guide/intro.md",
    "//docs/readme.md",
    "notes.old[",
    "build",
]

git = GitIgnoreSpec.from_lines(lines, backend="simple")
basic = PathSpec.from_lines("gitignore", lines, backend="simple")
combined = basic + git


def votes(spec):
    return [[result.include, result.index] for result in spec.check_files(files)]


last = combined.check_file("./build/keep.txt")
answer = {
    "git": votes(git),
    "basic": votes(basic),
    "left": list(git.match_files(files, negate=True)),
    "combined": {
        "type": type(combined).__name__,
        "include": last.include,
        "index": last.index,
    },
    "size": len(combined),
}
print(json.dumps(answer))
