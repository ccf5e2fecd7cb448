import json

from packaging.markers import Marker
from packaging.requirements import InvalidRequirement, Requirement

text = str(
    Requirement(
        "Foo.Bar_baz [Zed , a_b] >=1.0,==1.*,>=1 ;"
        " (python_version<'3.9' or extra=='Some__Extra') and os_name=='nt'"
    )
)

left, right = Requirement("Foo_Bar[A.b] ~= 1.0"), Requirement("foo.bar [a-B] ~=1.0.0")

joined = Marker("os.name=='posix' or python_implementation=='PyPy'")
joined &= Marker("'A_.b' in extras") & Marker("sys_platform=='it\"s'")

environment = {
    "platform_release": "6.1-generic",
    "python_version": "3.12",
    "python_full_version": "3.12.0rc1+",
    "sys_platform": "linux",
    "extra": "Dev_Tools",
}
markers = (
    "platform_release >= '6.1-generic'",
    "platform_release > '6.0-generic'",
    "python_version > '3.9'",
    "sys_platform >= 'linux2'",
    "python_full_version == '3.12.0rc1'",
    "extra == 'dev.tools' and '3.1' in python_version",
)
votes = [Marker(marker).evaluate(environment) for marker in markers]

try:
    Requirement("alpha [b]  >=2.* ; os_name=='nt'")
except InvalidRequirement as exc:
    span = list(exc.span)

same, joined = left == right, str(joined)
print(json.dumps({"text": text, "same": same, "joined": joined, "votes": votes, "span": span}))
