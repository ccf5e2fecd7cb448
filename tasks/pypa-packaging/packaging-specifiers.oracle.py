import json

from packaging.specifiers import Specifier, SpecifierSet
from packaging.version import Version

pool = (
    "1.5a1 0.9 1.4.post2 1.4.1+x 1.4rc1 1.5 1.4 1.4.dev9 "
    "1.3.9 1.4.10 1.4+cu.1 1.5.dev0 2.0 1.4rc2 1.4.1 1!1.0"
).split()

compatible = SpecifierSet("~=1.4rc2, !=1.4.1").filter(pool)
above = Specifier(">1.4").filter(pool)
inside = list(SpecifierSet(">=1.4.dev0,<1.5").filter(pool))
merged = SpecifierSet(" >=1.0.0,~=1.0 , ==1.*,>=1.0, != v1.00-RC.1 ")
spelled = Version(" V1!02.0-Preview_3.REV+Ubuntu_01.A ")

print(
    json.dumps(
        {
            "compatible": " ".join(compatible),
            "above": list(above),
            "share": len(inside) / len(pool),
            "merged": str(merged),
            "spelled": str(spelled),
        }
    )
)
