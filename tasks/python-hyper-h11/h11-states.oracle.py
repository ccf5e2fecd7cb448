import json

import h11


def pair(conn):
    return conn.states[h11.CLIENT].__name__ + "/" + conn.states[h11.SERVER].__name__


def serve(data, events=0, **kwargs):
    conn = h11.Connection(h11.SERVER, **kwargs)
    conn.receive_data(data)
    trail = [type(conn.next_event()).__name__ + "=" + pair(conn) for _ in range(events)]
    return conn, trail


def hint(data, events, **kwargs):
    try:
        serve(data, events, **kwargs)
    except h11.RemoteProtocolError as exc:
        return exc.error_status_hint


denied, trail = serve(b"CONNECT db:5432 HTTP/1.0\r\n\r\n", 3)
for event in (h11.Response(status_code=403, headers=[]), h11.EndOfMessage()):
    denied.send(event)
    trail.append(pair(denied))

put = b"PUT / HTTP/%s\r\nHost: a\r\nExpect: X, 100-Continue\r\nContent-Length: 4\r\n\r\n"
old, new = serve(put % b"1.0", 1)[0], serve(put % b"1.1", 1)[0]
waiting = {
    "1.0": old.they_are_waiting_for_100_continue,
    "1.1": new.they_are_waiting_for_100_continue,
}
new.send(h11.InformationalResponse(status_code=102, headers=[]))
waiting["102"] = new.they_are_waiting_for_100_continue

fields = [("Content-Length", "0"), ("Connection", "X, CLOSE")]
new.send(h11.Response(status_code=413, headers=fields))
new.send(h11.EndOfMessage())
try:
    new.start_next_cycle()
except h11.LocalProtocolError as exc:
    refusal = str(exc)

hints = [
    hint(b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 1),
    hint(b"GET /" + b"a" * 64, 1, max_incomplete_event_size=48),
    hint(b"GET / HTTP/1.1\r\n\r\n", 1),
    hint(b"GET / HTTP/1.0\r\n\r\n", 3),
    hint(b"GET / HTTP/1.0\r\nHost: a\r\nhost: a\r\n\r\n", 1),
]
trail = " ".join(trail)
print(json.dumps({"trail": trail, "waiting": waiting, "refusal": refusal, "hints": hints}))
