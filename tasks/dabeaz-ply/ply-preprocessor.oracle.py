import contextlib
import io
import json

from ply import cpp, lex

lexer = lex.lex(module=cpp)


def process(text):
    preprocessor = cpp.Preprocessor(lexer)
    preprocessor.parse(text, "m.c")
    with contextlib.redirect_stdout(io.StringIO()) as said:
        output = "".join(token.value for token in iter(preprocessor.token, None))
    return output, said.getvalue().splitlines()


expanded = [
    process("#define F() 7\nF() F")[0],
    process("#define S(x) #x\nS( a  +  S(b) )")[0],
    process("#define V(x, ...) [__VA_ARGS__|x]\nV(1) V(1, 2, (3, 4))")[0],
    process("#define R R + Q\n#define Q R * 2\nR")[0],
]
pasted = process("#define A B\n#define AA 1\n#define BB 2\n#define CAT(a, b) a ## b\nCAT(A, A)")[0]

branches = [
    process("#define E 2u\n#if defined E && E > 1 && !defined(Z)\nyes\n#else\nno\n#endif\nE")[0],
    process("#define E 2\n#if E != 1\nyes\n#elif 1.5 > E\nmaybe\n#else\nno\n#endif\n")[0],
    process("#if UNKNOWN\nyes\n#elif 3L - 2\nmaybe\n#elif 1\nno\n#endif\n#pragma x")[0],
]
lines = {
    "continued": process("__LINE__ \\\n__LINE__\n__LINE__")[0],
    "comment": process("a /* x\ny */ __LINE__ // z\n__LINE__")[0],
    "trigraph": process("??=undef X\n??(__LINE__??)")[0],
}
refused = process("#define M(a, b) a-b\nM(1) M (2, (3, 4)) M\n#if 1 != 2\nyes\n#endif")
print(
    json.dumps(
        {"expanded": expanded, "pasted": pasted, "branches": branches}
        | {"lines": lines, "refused": refused}
    )
)
