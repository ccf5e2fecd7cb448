import ast
import inspect
import json
import sys

from sqlparse import filters, formatter, sql
from sqlparse import tokens as T
from sqlparse.engine import FilterStack


def last_filter(option):
    options = formatter.validate_options({option: True})
    return formatter.build_filter_stack(FilterStack(), options).stmtprocess[-1]


def appended():
    """The filter classes that build_filter_stack can append to stmtprocess."""
    for node in ast.walk(ast.parse(inspect.getsource(formatter.build_filter_stack))):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "stack.stmtprocess.append":
            yield getattr(filters, node.args[0].func.attr)


def bypasses(method):
    """Whether it inserts into some `.tokens`, or sets an item of it, by itself."""
    for node in ast.walk(method):
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(".tokens.insert"):
            return True
        targets = node.targets if isinstance(node, ast.Assign) else []
        if any(ast.unparse(target).split("[")[0].endswith(".tokens") for target in targets):
            return True
    return False


def parents(filter_, *statements):
    statements = [sql.Statement(list(tokens)) for tokens in statements]
    for statement in statements:
        filter_.process(statement)
    return [token.parent is statements[-1] for token in statements[-1].tokens]


def left_over(*tokens):
    filter_ = last_filter("reindent")
    try:
        filter_.process(sql.Statement(list(tokens)))
    except IndexError:
        return [filter_.indent, filter_.offset]


orphans = []
for cls in appended():
    methods = ast.parse(inspect.getsource(cls)).body[0].body
    named = {m.name: m for m in methods if isinstance(m, ast.FunctionDef)}
    if isinstance(named["process"].body[-1], ast.Raise):
        continue
    orphans += [f"{cls.__name__}.{name}" for name, m in named.items() if bypasses(m)]


def a():
    return sql.Token(T.Name, "a")


def b():
    return sql.Token(T.Name, "b")


def comment():
    return sql.Token(T.Comment.Single, "-- x\n")


cases = {
    "between": parents(last_filter("strip_comments"), [a(), comment(), b()]),
    "first": parents(last_filter("strip_comments"), [comment(), b()]),
    "last": parents(last_filter("strip_comments"), [a(), comment()]),
    "operator": parents(
        last_filter("use_space_around_operators"), [a(), sql.Token(T.Operator, "+"), b()]
    ),
    "aligned": parents(
        last_filter("reindent_aligned"), [a(), sql.Token(T.Whitespace, " "), b()]
    ),
    "second": parents(last_filter("reindent"), [a()], [b()]),
}

adopting = set()
create = sql.TokenList.__init__


def watched(self, tokens=None):
    if any(token.parent for token in tokens or ()):
        adopting.add(sys._getframe(1).f_code.co_qualname)
    create(self, tokens)


sql.TokenList.__init__ = watched
parents(last_filter("reindent_aligned"), [a(), b()])
sql.TokenList.__init__ = create
(foreign,) = adopting

open_, close = sql.Token(T.Punctuation, "("), sql.Token(T.Punctuation, ")")
select = sql.Token(T.Keyword.DML, "select")
name = sql.Token(T.Name, "abc")
over = [
    left_over(sql.Parenthesis([open_, select, sql.IdentifierList([]), close])),
    left_over(name, sql.Parenthesis([open_, sql.IdentifierList([]), close])),
]
report = {"orphans": sorted(orphans), "foreign": foreign, "parents": cases, "left_over": over}
print(json.dumps(report))
