import json

from urllib3._request_methods import RequestMethods
from urllib3.fields import RequestField


class Recorder(RequestMethods):
    def urlopen(self, method, url, body=None, headers=None, **kw):
        return {"line": f"{method} {url}", "body": body, "headers": headers, "rest": sorted(kw)}


defaults = {"X-Pool": "1"}
pool = Recorder(defaults)

fields = {"size": 7, 'a"b': ("c\n.txt", b"raw", "text/x-y"), "empty": ("", "e")}
form = pool.request("put", "/form", fields=fields, multipart_boundary="=")
head = pool.request("head", "/q?a=1", fields=[("b", "x y"), ("b", "&")], body="z", headers={})
query = f"{head['line']} {head['body']} {head['headers']}"

plain = {"content-TYPE": "text/plain"}
typed = [
    pool.request("POST", "/", json={"k": ["é", None]}),
    pool.request("POST", "/", json=0, headers=plain),
    pool.request("PATCH", "/", fields={"k": "é"}, encode_multipart=False),
    pool.request("POST", "/", fields={"k": "v"}, headers=plain, encode_multipart=False),
    pool.request("DELETE", "/", json=[], encode_multipart=False),
]
kept = "X-Pool" in typed[0]["headers"] and list(defaults) == ["X-Pool"]
typed = [[*dict(sent["headers"]).items(), str(sent["body"]), *sent["rest"]] for sent in typed]

part = RequestField("n", "data", headers={"X-Empty": "", "X-Z": "z", "Content-Type": "old/type"})
part.make_multipart(content_disposition="attachment", content_location="/here")
part = part.render_headers() + RequestField.from_tuples("u", (None, "d")).render_headers()

form = form["body"].decode()
print(json.dumps({"form": form, "query": query, "typed": typed, "part": part, "kept": kept}))
