import json

import xmltodict

feed = xmltodict.parse(
    '<f xmlns="u:a" xmlns:n="u:b"><n:x n:k="1" j="2"> p <!-- q --> r </n:x>'
    "<items>  </items><n:x>7</n:x><n:item>z</n:item></f>",
    process_namespaces=True,
    process_comments=True,
    namespaces={"u:a": "", "u:b": "B"},
    cdata_separator="|",
    force_cdata=("B:x",),
    force_list="B:items",
)

streamed = []
xmltodict.parse(
    '<log><e id="1"> a <b> c </b></e><e> d </e><e>  </e><e/></log>',
    item_depth=2,
    item_callback=lambda path, item: streamed.append([path[-1][1], item]) or True,
)

calls = []


def watch(path, key, value):
    calls.append(".".join(name for name, _ in path) + ">" + key)
    return None if key == "@b" else (key.strip("@"), value)


renamed = xmltodict.parse('<r a="1" b="2"><c b="3"/>t</r>', postprocessor=watch)
loose = xmltodict.parse(
    "<a> <b/>\n<!-- c --></a>", strip_whitespace=False, process_comments=True, comment_key="b"
)

print(
    json.dumps(
        {
            "feed": feed["f"],
            "streamed": streamed,
            "calls": " ".join(calls),
            "loose": loose["a"],
            "renamed": len(renamed["r"]),
        }
    )
)
