import json
from types import SimpleNamespace

from ply import lex, yacc

tokens = ("WORD", "NUM", "IF", "POW")
literals = "+-<;*"
precedence = (("nonassoc", "<"), ("left", "+", "-"), ("right", "POW", "+"), ("right", "NEG"))
t_ignore = " "
t_IF = r"if"
t_NUM = r"[0-9]"
t_POW = r"\*\*"
t_WORD = r"[a-z]+"
errors, warnings = [], []


def p_lines(p):
    "lines : lines line \n | line"
    p[0] = p[1] + p[2] if len(p) == 3 else p[1]


def p_line(p):
    "line : expr ';' \n | error ';'"
    p[0] = [p[1] if isinstance(p[1], str) else p[1].value]


def p_expr(p):
    """expr : expr '+' expr
    | expr '-' expr
    | expr '<' expr
    | expr POW expr
    | '-' expr %prec NEG
    | NUM"""
    p[0] = f"({''.join(p[1:])})" if len(p) > 2 else p[1]


def p_error(token):
    errors.append(token and [token.value, token.lexpos])


log = SimpleNamespace(warning=lambda message, *args: warnings.append(message % args))
lexer = lex.lex(errorlog=log)
lexer.input("if*4 **ifs")
kinds = " ".join(token.type for token in lexer)
parser = yacc.yacc(debug=False, write_tables=False, errorlog=log)
trees = parser.parse("1-2-3**-4**5;1<2<3;+;4 5;6;7+8 9;-1<2;", lexer=lexer)
finished = parser.parse("1;2", lexer=lexer) is not None
results = {"trees": trees, "kinds": kinds, "errors": errors}
print(json.dumps({**results, "finished": finished, "warnings": warnings}))
