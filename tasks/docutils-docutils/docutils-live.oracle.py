import json
from types import SimpleNamespace

from docutils import nodes
from docutils.transforms import universal

NAMES = (
    "ExposeInternals FilterMessages StripComments StripClassesAndElements SmartQuotes Validate"
).split()
CLASSES = (
    "address caption classifier comment image label line math_block option_string pending raw "
    "reference substitution_definition system_message target title"
).split()


class Settings(SimpleNamespace):
    def setdefault(self, name, value):
        return self.__dict__.setdefault(name, value)


def document(*children):
    root = nodes.container("", *children)
    root.ids = {}
    root.reporter = SimpleNamespace(report_level=2, warning=lambda *args, **kwargs: None)
    root.settings = Settings(
        expose_internals=["rawsource"],
        strip_comments=True,
        strip_elements_with_classes=["out"],
        strip_classes=["plain"],
        smart_quotes=True,
        smartquotes_locales=None,
        language_code="en",
        validate=True,
    )
    return root


def transform(name, root):
    made = object.__new__(getattr(universal, name))
    made.document, made.unsupported_languages = root, set()
    made.apply()


def section(name, *children, **attributes):
    return nodes.section("", nodes.title("", "t"), *children, names=[name], **attributes)


def empty(name):
    return section(name, classes=["system-messages"])


def everything():
    return document(
        empty("A"),
        nodes.paragraph("source", 'a "b"', classes=["plain"]),
        nodes.paragraph("", "gone", classes=["out"]),
        nodes.comment("", "c"),
        nodes.system_message("", nodes.paragraph("", "m"), level=1, ids=["m1"]),
        nodes.paragraph("", "", nodes.problematic("", "p", refid="m1")),
    )


def shape(node):
    return (node, [shape(child) for child in node.children])


def same(one, other):
    return (
        one[0] is other[0]
        and len(one[1]) == len(other[1])
        and all(map(same, one[1], other[1]))
    )


findall = nodes.Node.findall
live = set()
for name in NAMES:
    root = everything()

    def watched(self, *args, name=name, root=root, **kwargs):
        for node in findall(self, *args, **kwargs):
            before = shape(root)
            yield node
            if not same(before, shape(root)):
                live.add(name)

    nodes.Node.findall = watched
    transform(name, root)
nodes.Node.findall = findall

documents = {
    "three": document(empty("A"), empty("B"), empty("C")),
    "apart": document(empty("A"), nodes.paragraph("", "p"), empty("B")),
    "five": document(*map(empty, "ABCDE")),
    "inner": document(section("Z", empty("A"), empty("B")), empty("C")),
}
kept = {}
for name, root in documents.items():
    transform("FilterMessages", root)
    sections = list(root.findall(nodes.section))
    kept[name] = [s["names"][0] for s in sections if "system-messages" in s["classes"]]

root = document(*(nodes.comment("", "c") for _ in range(3)))
transform("StripComments", root)
comments = len(root.children)

blocks = []
for name in CLASSES:
    cls = getattr(nodes, name)
    if issubclass(cls, nodes.TextElement) and not issubclass(
        cls, universal.SmartQuotes.nodes_to_skip
    ):
        blocks.append(name)
print(json.dumps({"live": sorted(live), "kept": kept, "comments": comments, "blocks": blocks}))
