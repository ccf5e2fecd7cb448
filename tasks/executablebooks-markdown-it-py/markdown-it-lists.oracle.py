import json

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

TASKS = """\
07. [X]  one
    2) two
8.  [x]
9.      [ ] three
"""

NESTED = """\
- a
  - b

    c
- d
  > e
  4. f
  5. f
+ g

  1) h
+ i
"""

md = MarkdownIt("commonmark", {"tasklists": True})
html = md.render(TASKS)
tokens = md.parse(NESTED)
hidden = sum(token.hidden for token in tokens if token.type == "paragraph_open")

tree = SyntaxTreeNode(tokens)
items = [node for node in tree.walk() if node.type == "list_item"]
lists = [node for node in tree.walk() if node.type.endswith("_list")]
outline = " ".join(f"{node.type}{node.level}{node.markup}" for node in lists)
starts = [node.attrGet("start") for node in lists]
spread = sum(node.map[1] - node.map[0] for node in items) / len(items)
print(
    json.dumps(
        {"html": html, "hidden": hidden, "outline": outline, "starts": starts, "spread": spread}
    )
)
