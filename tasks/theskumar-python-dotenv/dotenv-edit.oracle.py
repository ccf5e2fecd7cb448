import json
import logging

from dotenv import get_key, set_key, unset_key

TEXT = """\
export A=1

# note
B = 'two' # c
'A'=3

no way
C="x"""


class Collector(logging.Handler):
    lines = []

    def emit(self, record):
        self.lines.append(record.args[0])


with open("env", "w", encoding="utf-8") as file:
    file.write(TEXT)

logging.getLogger("dotenv.main").addHandler(Collector())
answers = [
    set_key("env", "A", "it's\\"),
    set_key("env", "D", 'a"b', quote_mode="auto", export=True),
    set_key("env", "D", "2", quote_mode="auto"),
    set_key("env", "E", " # 5", quote_mode="never"),
    unset_key("env", "B"),
    unset_key("env", "C"),
]
lines = list(Collector.lines)
found = {name: get_key("env", name) for name in "ABCDE"}
try:
    refused = set_key("env", "F", "1", quote_mode="double") is None
except ValueError:
    refused = True

with open("env", encoding="utf-8") as file:
    text = file.read()
report = {"text": text, "answers": [answer[0] for answer in answers], "found": found}
print(json.dumps({**report, "lines": lines, "refused": refused}))
