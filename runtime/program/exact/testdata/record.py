"""Writes testdata/exact.txt: what CPython's pow, math.log, math.log10 and
math.exp answer, as the bits of floats. Run it with CPython 3.11 or later."""
import math
import os
import random
import struct

random.seed(20261129)


def bits(x):
    return struct.pack(">d", x).hex()


rows = []
for x, y in [(27.0, 1 / 3), (8.0, 1 / 3), (1.05, 30.0), (1 + 0.07 / 12, 120.0), (1.01, 365.0), (59.264, 48.0), (1e16, -2.0), (2.0, 0.5),
             (10.0, -3.0), (-8.0, 3.0), (-2.0, -3.0), (1e300, 1.02), (5e-324, 0.5), (0.1, 300.0), (0.5, 1074.0), (2.0, 1023.5), (123456789.0, -2.0)]:
    rows.append(("pow", x, y, x ** y))
for _ in range(500):
    x, y = random.uniform(0, 100), random.choice([random.uniform(-20, 20), float(random.randint(-30, 60)), 1 / random.randint(2, 12)])
    rows.append(("pow", x, y, x ** y))
for n in list(range(-30, 31)):
    rows.append(("log10", 10.0 ** n, 0.0, math.log10(10.0 ** n)))
for _ in range(300):
    x = random.choice([random.uniform(0, 10), random.uniform(0, 1e9), 2.0 ** random.randint(-1000, 1000)])
    rows.append(("log", x, 0.0, math.log(x)))
    rows.append(("log10", x, 0.0, math.log10(x)))
    y = random.uniform(-50, 50)
    rows.append(("exp", y, 0.0, math.exp(y)))
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "exact.txt"), "w") as f:
    for name, x, y, z in rows:
        f.write(" ".join([name, bits(x), bits(y), bits(z)]) + "\n")
