import io
import json
import logging
import os

from dotenv import dotenv_values, load_dotenv

TEXT = r"""
export MODE=file
A=${MODE}-${MISSING:-d e}
B='${MODE}\n' # quoted
C="${MODE}\ty\q"

D=${A}#no # yes
E
F=${E:-none}${E}.
no way = 3
G= # nothing
H=#kept
MODE=${MODE}2
I=${MISSING:-${MODE}}
'J K' = ${A:?x}
"L
"""


class Collector(logging.Handler):
    lines = []

    def emit(self, record):
        self.lines.append(record.args[0])


logging.getLogger("dotenv.main").addHandler(Collector())
os.environ.update(MODE="env", H="")
values = dotenv_values(stream=io.StringIO(TEXT))
raw = dotenv_values(stream=io.StringIO(TEXT), interpolate=False)
stream = io.StringIO(TEXT)
load_dotenv(stream=stream)
again = load_dotenv(stream=stream)
loaded = {name: os.environ.get(name) for name in ("MODE", "A", "E", "H", "I")}
report = {"values": values, "loaded": loaded, "raw": [raw["I"], raw["MODE"], list(raw)[0]]}
print(json.dumps({**report, "skipped": Collector.lines, "again": again}))
