import io
import json
import traceback

from pyasn1.codec.ber.decoder import StreamingDecoder
from pyasn1.error import PyAsn1Error


class Trickle:
    """A seekable, non-blocking stream: None when there is nothing to read yet."""

    def __init__(self, data):
        self.held = io.BytesIO(data)

    def arrive(self, data):
        at = self.held.tell()
        self.held.seek(0, io.SEEK_END)
        self.held.write(data)
        self.held.seek(at)

    def seekable(self):
        return True

    def seek(self, *where):
        return self.held.seek(*where)

    def tell(self):
        return self.held.tell()

    def read(self, size=-1):
        return self.held.read(size) or (b"" if size == 0 else None)


def kinds(*parts):
    """The class name of what each `next` gives; the data of a string arrives before it."""
    stream = Trickle(b"")
    items, names = iter(StreamingDecoder(stream)), []
    for part in parts:
        stream.arrive(bytes.fromhex(part))
        names.append(type(next(items)).__name__)
    return names


try:
    kinds("0302")
except PyAsn1Error as exc:
    message = str(exc)
    last = list(traceback.walk_tb(exc.__traceback__))[-1][0]
    caller = last.f_code.co_qualname

octets = kinds("0402", "6162")
integers = kinds("020105", "", "020106")
print(json.dumps({"caller": caller, "message": message, "octets": octets, "integers": integers}))
