import asyncio
import json

import tenacity
import tenacity.asyncio

X, Y, Z = (tenacity.retry_if_result(bool) for _ in range(3))
x, y, z = (tenacity.asyncio.retry_if_result(bool) for _ in range(3))


def f(state):
    return False


def seven():
    return 7


def returning(value):
    return lambda state: value


lengths = {
    "X | Y | Z": X | Y | Z,
    "x | y | z": x | y | z,
    "X | (Y | Z)": X | (Y | Z),
    "x | (y | z)": x | (y | z),
    "X | (y | z)": X | (y | z),
    "(X | Y) | (y | z)": (X | Y) | (y | z),
    "(x | y) | (X | Y)": (x | y) | (X | Y),
    "X | f | Y": X | f | Y,
    "x | f | y": x | f | y,
    "f | (x | y)": f | (x | y),
}
ANY, ALL = [["", 2], [0, ""], [3, 4], []], [[2, ""], [2, 3], []]


def strategies(module):
    return [module.retry_any(*map(returning, values)) for values in ANY] + [
        module.retry_all(*map(returning, values)) for values in ALL
    ]


def make(cls, **options):
    return cls(stop=tenacity.stop_after_attempt(1), **options)


def loop(retrying):
    for attempt in retrying:
        with attempt:
            raise OSError


async def async_loop(retrying):
    async for attempt in retrying:
        with attempt:
            raise OSError


plain, later = tenacity.Retrying, tenacity.AsyncRetrying
outcomes = {
    "call": lambda: make(plain, enabled=False)(seven),
    "call_async": lambda: make(later, enabled=False)(seven),
    "wrapped": lambda: make(plain, enabled=False).wraps(seven)(),
    "wrapped_async": lambda: make(later, enabled=False).wraps(seven)(),
    "wrapped_enabled": lambda: make(later).wraps(seven)(),
    "loop": lambda: loop(make(plain, enabled=False)),
    "loop_async": lambda: async_loop(make(later, enabled=False)),
    "loop_enabled": lambda: async_loop(make(later)),
    "loop_plain": lambda: loop(make(later)),
}


async def outcome(action):
    try:
        value = action()
        return await value if hasattr(value, "__await__") else value
    except Exception as error:
        return type(error).__name__


async def main():
    print(
        json.dumps(
            {
                "lengths": {text: len(made.retries) for text, made in lengths.items()},
                "sync": [strategy(None) for strategy in strategies(tenacity)],
                "async": [await strategy(None) for strategy in strategies(tenacity.asyncio)],
                "outcomes": {name: await outcome(action) for name, action in outcomes.items()},
            }
        )
    )


asyncio.run(main())
