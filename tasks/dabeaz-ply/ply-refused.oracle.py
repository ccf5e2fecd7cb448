import json

from ply.yacc import Grammar, GrammarError, parse_grammar

docs = {
    "a": 'x : A B',
    "b": 'x ::= A\n| B',
    "c": '| A',
    "d": 'x = A',
    "e": 'x :',
    "f": 'x',
    "g": 'A : B',
    "h": 'error : A',
    "i": 'x-y : 2',
    "j": '%prec : A',
    "k": "x : '+' B '++'",
    "l": "x : ''",
    "m": "x : 'a",
    "n": "x : ' '",
    "o": "x : A\n\n| 'A'",
    "p": 'x : A | B',
    "q": 'x : B %prec A',
    "r": 'x : A %prec B',
    "s": 'x : B %prec',
    "t": 'x : A %prec A B',
    "u": 'x : A\ny = B',
    "v": 'x : A\ny : B+',
    "w": 'x : y\n: z',
    "z": 'x : error y.z',
}
syntax, refused, messages, kept, terminals = [], [], {}, {}, {}
for letter, doc in docs.items():
    grammar = Grammar(["A", "B"])
    grammar.set_precedence("A", "left", 1)
    try:
        for file, line, name, symbols in parse_grammar(doc, "g", 1):
            grammar.add_production(name, symbols, "f", file, line)
    except SyntaxError as error:
        syntax.append(letter)
        messages[letter] = str(error)
    except GrammarError as error:
        refused.append(letter)
        messages[letter] = str(error)
    kept[letter] = len(grammar) - 1
    terminals[letter] = sorted(grammar.Terminals)

report = {"syntax": syntax, "grammar": refused}
report["messages"] = {letter: messages[letter] for letter in "fhjow"}
report["kept"] = {letter: kept[letter] for letter in "louvw"}
report["terminals"] = {letter: terminals[letter] for letter in "kln"}
print(json.dumps(report))
