import codecs
import json

import idna.codec

info = codecs.lookup("idna2008")


def feed(coder, *chunks):
    results = []
    for number, chunk in enumerate(chunks, 1):
        try:
            results.append(coder(chunk, number == len(chunks)))
        except idna.IDNAError as error:
            results.append(error.code)
    return [piece.decode() if isinstance(piece, bytes) else piece for piece in results]


encoder, decoder = info.incrementalencoder(), info.incrementaldecoder()
pieces = {
    "encoded": feed(encoder.encode, "WWW.Ex", "ample\uff0ecom", "\u3002", ""),
    "decoded": feed(decoder.decode, b"WWW.Ex", b"ample.com", b".", b""),
    "empty label": feed(info.incrementalencoder().encode, "a.", ".", "b", ""),
    "only dot": feed(info.incrementaldecoder().decode, b".", b"x"),
    "one shot": [info.encode("")[1], info.decode(b"A.b.")[0]],
}
states = [list(encoder.getstate()), decoder.getstate()[1]]
part = "x" * 63 + "."
long = info.incrementalencoder()
sizes = []
for tail in ("x" * 61, "x" * 61 + ".", "x" * 62, "x" * 62 + "."):
    long.reset()
    outcome = feed(long.encode, part * 3, tail)
    sizes.append(outcome[1] if "_" in outcome[1] else len("".join(outcome)))
after = list(long.getstate())[1:]
long.setstate(("tail", 249, True))
resumed = feed(long.encode, "", ".")
one_shot = [feed(lambda name, _: idna.encode(name), part * 3 + "x" * size)[0] for size in (61, 62)]
refused = feed(info.incrementaldecoder("ignore").decode, b"") + [one_shot[1], len(one_shot[0])]
answers = {"pieces": pieces, "states": states, "sizes": sizes}
print(json.dumps(answers | {"resumed": after + resumed, "refused": refused}))
