"""Mutations of files and JSON values: damage of the kinds that disks, networks and people do."""

import random
from typing import Any

_ODD: list[Any] = [
    None, True, False, 0, -1, 1, 2**31, 2**63, 2**64, 10**30, 1e308, -0.0, float("inf"),
    float("nan"), "", "x", "é\u0000", "tcp://127.0.0.1:9", "../../x", "a" * 5000, [], {}, [[]],
    {"": None}, ["x", 1],
]  # fmt: skip


def mutated_bytes(data: bytes, random: random.Random) -> bytes:
    """Return the bytes with one to four damages: flips, cuts, repeats, insertions, a cut end."""
    changed = bytearray(data)
    for _ in range(random.randint(1, 4)):
        kind, at = random.randrange(6), random.randrange(len(changed) + 1)
        until = min(len(changed), at + random.randint(1, 64))
        if kind == 0 and at < len(changed):
            changed[at] ^= 1 << random.randrange(8)
        elif kind == 1 and at < len(changed):
            changed[at] = random.choice(b"\x00\xff\n\r\t\"'{}[],:;-0e9 \\")
        elif kind == 2:
            del changed[at:until]
        elif kind == 3:
            changed[at:at] = changed[at:until]
        elif kind == 4:
            changed[at:at] = random.randbytes(random.randint(1, 16))
        else:
            del changed[at:]
    return bytes(changed)


def mutated_value(value: Any, random: random.Random) -> Any:
    """Return a JSON value with one of its parts, at any depth, replaced, dropped or doubled."""
    if isinstance(value, dict) and value and random.random() < 0.9:
        name = random.choice([*value])
        if random.random() < 0.15:
            return {k: v for k, v in value.items() if k != name}
        return value | {name: mutated_value(value[name], random)}
    if isinstance(value, list) and value and random.random() < 0.8:
        at = random.randrange(len(value))
        kind = random.random()
        if kind < 0.1:
            return value[:at] + value[at + 1 :]
        if kind < 0.2:
            return value[:at] + value[at : at + 1] * 2 + value[at + 1 :]
        return [*value[:at], mutated_value(value[at], random), *value[at + 1 :]]
    if isinstance(value, int | float) and not isinstance(value, bool) and random.random() < 0.4:
        return value * random.choice([-1, 2, 10, 1e6]) + random.choice([-1, 0, 1])
    return random.choice(_ODD)
