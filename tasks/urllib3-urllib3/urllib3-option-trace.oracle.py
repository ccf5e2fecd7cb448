import json
import ssl

from urllib3 import PoolManager, Timeout
from urllib3.util.ssl_ import resolve_cert_reqs

manager = PoolManager(
    cert_reqs="OPTIONAL",
    assert_hostname="alias.test",
    server_hostname="sni.test",
    blocksize=None,
    timeout=Timeout(connect=2, total=1.5),
)
named = manager.connection_from_url("https://Example.test.")._new_conn()
unset = manager.connection_from_url(
    "https://other.test", pool_kwargs={"cert_reqs": None, "timeout": None, "blocksize": 4096}
)._new_conn()
plain = manager.connection_from_url(
    "http://Example.test:81", pool_kwargs={"timeout": 3}
)._new_conn()


def shown(conn, *names):
    values = {name: getattr(conn, name) for name in names}
    if isinstance(values.get("cert_reqs"), ssl.VerifyMode):
        values["cert_reqs"] = values["cert_reqs"].name
    if not isinstance(values["timeout"], int | float):
        values["timeout"] = None
    return values


common = ("blocksize", "timeout", "host", "port")
secure = ("cert_reqs", "assert_hostname", "server_hostname", *common)
assert unset.cert_reqs is resolve_cert_reqs(None)
found = {
    "named": shown(named, *secure),
    "unset": shown(unset, *secure),
    "plain": shown(plain, *common),
    "resolver": resolve_cert_reqs.__name__,
}
print(json.dumps(found))
