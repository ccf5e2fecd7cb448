import json

from lark import Discard, Lark, Transformer, Tree, v_args
from lark.exceptions import VisitError

lark = Lark(
    """
    start: (_pair ";")+
    _pair: key ["=" value] [NOTE "!" NOTE]
    ?value: term | value "+" term -> sum
    ?term: atom | "(" value ")"
    !key: "@"? NAME
    ?atom: NUMBER | sep{NAME, ","} | "[" "]" -> empty
    sep{x, y}: x (y x)+
    NAME: /[a-z]/
    NOTE: /[A-Z]/
    NUMBER: /[0-9]/
    """,
    parser="lalr",
    propagate_positions=True,
)


def shape(node):
    return [node.data, *map(shape, node.children)] if isinstance(node, Tree) else node


@v_args(inline=True)
class Fold(Transformer):
    def sum(self, left, right):
        return f"{left}+{right}"

    def key(self, *names):
        return Discard if len(names) > 1 else names[0]

    @v_args(meta=True)
    def sep(self, meta, names):
        return f"{names[0]}..{meta.end_column}"

    def NUMBER(self, token):
        return 10 // int(token)


tree = lark.parse("@a=(x,y)+(2);bA!B;c=((1+[])+4);")
visited = [node.data for node in tree.iter_subtrees()]
visited += ["|", *(node.data for node in tree.iter_subtrees_topdown())]
nodes = [tree, *tree.find_data("empty"), *tree.find_data("sum"), *tree.find_data("sep")]
metas = [[node.data, node.meta.column, node.meta.end_column] for node in nodes]
folded = shape(Fold().transform(tree))
try:
    Fold().transform(lark.parse("a=0;"))
except VisitError as exc:
    folded.append([exc.rule, type(exc.orig_exc).__name__])
values = {"shape": shape(tree), "visited": " ".join(visited)}
print(json.dumps({**values, "metas": metas, "folded": folded}))
