import json

import attrs
from attrs import define, field, frozen, setters


@frozen
class Base:
    w = field()


def a():
    @define(frozen=True, on_setattr=setters.validate)
    class A:
        x = field()
    return A


def b():
    @frozen
    class B:
        x = field(on_setattr=setters.validate)
    return B


def c():
    @frozen
    class C:
        x = field(on_setattr=setters.NO_OP)
    return C


def d():
    @define(eq=False, order=True)
    class D:
        x = field()
    return D


def e():
    @define
    class E:
        x = field(default=1)
        @x.default
        def _(self): return 2
    return E


def f():
    @define(cache_hash=True)
    class F:
        x = field()
    return F


def g():
    @frozen(cache_hash=True)
    class G:
        x = field()
    return G


def h():
    @frozen(cache_hash=True, init=False)
    class H:
        x = field()
    return H


def i():
    @define
    class I:
        x = field(default=1)
        y = field()
    return I


def j():
    @define
    class J:
        x = field(default=1)
        y = field(kw_only=True)
    return J


def k():
    @define
    class K:
        x = field(default=1)
        y = field(init=False)
    return K


def l():
    @define
    class L:
        x = field()
        def __setattr__(self, name, value): pass
    return L


def m():
    @define
    class M:
        x = field(converter=int)
        def __setattr__(self, name, value): pass
    return M


def n():
    @frozen
    class N:
        x = field()
        def __setattr__(self, name, value): pass
    return N


def o():
    @define(str=True, repr=False)
    class O:
        x = field()
    return O


def p():
    @define
    class P(Base):
        x = field(converter=int)
    return P


def q():
    @define(on_setattr=setters.convert)
    class Q(Base):
        x = field(converter=int)
    return Q


def r():
    @define(on_setattr=setters.NO_OP)
    class R(Base):
        x = field(converter=int)
    return R


def s():
    @define
    class S:
        x = field(default=1, factory=list)
    return S


def t():
    @define
    class T:
        x: int = field(type=int)
    return T


def u():
    @define
    class U:
        x = field(type=int)
    return U


def v():
    @define
    class V:
        x: int
        y = field()
    return V


def w():
    @define(auto_attribs=True)
    class W:
        x: int
        y = field()
    return W


def z():
    @define(unsafe_hash=1)
    class Z:
        x = field()
    return Z


refused, types, raised_in, fields = [], {}, {}, {}
for make in (a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, z):
    letter = make.__name__.upper()
    try:
        cls = make()
    except Exception as error:
        refused.append(letter)
        types[letter] = type(error).__name__
        place = error.__traceback__
        while place.tb_next:
            place = place.tb_next
        raised_in[letter] = place.tb_frame.f_code.co_qualname
    else:
        fields[letter] = [one.name for one in attrs.fields(cls)]

report = {"refused": refused, "types": {letter: types[letter] for letter in "EFQTWZ"}}
report["raised_in"] = {letter: raised_in[letter] for letter in "ADIMNOQT"}
report["fields"] = {letter: fields[letter] for letter in "PRV"}
print(json.dumps(report))
