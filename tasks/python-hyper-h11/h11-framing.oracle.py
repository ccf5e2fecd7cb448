import json

import h11


def serve(data):
    conn = h11.Connection(h11.SERVER)
    conn.receive_data(data)
    while type(conn.next_event()) is not h11.EndOfMessage:
        pass
    return conn


fields = [("X-Id", "7"), ("Connection", "Keep-Alive, Upgrade"), ("Transfer-Encoding", "Chunked")]
old = serve(b"HEAD / HTTP/1.0\r\n\r\n")
head = old.send(h11.Response(status_code=200, headers=fields)).decode()

new = serve(b"HEAD / HTTP/1.1\r\nHost: a\r\n\r\n")
new.send(h11.Response(status_code=200, headers=[]))
tail = len(new.send(h11.EndOfMessage()))

client = h11.Connection(h11.CLIENT)
framing = ("Transfer-Encoding", "CHUNKED")
client.send(h11.Request(method="POST", target="/", headers=[("Host", "a"), framing]))
sent = [client.send(h11.Data(data=part)) for part in (b"", b"0123456789abcdefg")]
sent.append(client.send(h11.EndOfMessage(headers=[("Sum", "1"), ("hOST", "b")])))

reader = h11.Connection(h11.SERVER)
reader.receive_data(b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
reader.next_event()
chunks = []
for part in (b"05;n=1\r\nhel", b"lo\r\n3 \t\r\nabc\r", b"\n7\r"):
    reader.receive_data(part)
    while (event := reader.next_event()) is not h11.NEED_DATA:
        chunks.append([event.data.decode(), event.chunk_start, event.chunk_end])

client = h11.Connection(h11.CLIENT)
client.send(h11.Request(method="GET", target="/", headers=[("Host", "a")]))
client.receive_data(b"HTTP/1.1 200\r\nContent-Length: 12 , 12\r\ncontent-length: 12\r\n\r\nhello")
seen = [len(client.next_event().headers), len(client.next_event().data)]
client.receive_data(b"")
try:
    client.next_event()
except h11.RemoteProtocolError as exc:
    complaint = f"{seen} {exc}"
body = b"".join(sent).decode()
print(
    json.dumps(
        {"head": head, "tail": tail, "body": body, "chunks": chunks, "complaint": complaint}
    )
)
