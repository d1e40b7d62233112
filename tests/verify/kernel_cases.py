"""Pairs of points at which doubles have a hard time, and kernel values in balls, straight from the definitions."""

from fractions import Fraction

import numpy as np
from flint import arb, ctx, fmpq

from sepcert.kernels import define_kernel
from sepcert.problem import Points
from sepcert.status import Numbers

BITS = 300


def kernels():
    """One or more of each kind; the gammas are no doubles where that is possible."""
    gaussian, matern = {"name": "gaussian", "gamma": "0.3"}, {"name": "matern", "nu": "3/2", "length_scale": "0.7"}
    polynomial = {"name": "polynomial", "degree": 2, "gamma": "1/3"}
    return [
        define_kernel("linear"),
        define_kernel("polynomial", {"degree": 1, "gamma": "0.1", "coef0": "0.7"}),
        define_kernel("polynomial", {"degree": 3, "gamma": "0.1", "coef0": "1/3"}),
        define_kernel("polynomial", {"degree": 8, "coef0": 0}),
        define_kernel("polynomial", {"degree": 100, "gamma": "1/7"}),
        define_kernel("gaussian", {"gamma": "0.1"}),
        define_kernel("gaussian", {"gamma": 1}),
        define_kernel("gaussian", {"gamma": "1e-18"}),
        define_kernel("laplacian", {"gamma": "0.1"}),
        define_kernel("laplacian", {"gamma": "1/3"}),
        *(define_kernel("matern", {"nu": nu, "length_scale": "0.7"}) for nu in ("1/2", "3/2", "5/2")),
        define_kernel("matern", {"nu": "5/2", "length_scale": 1}),
        define_kernel("sum", {"of": ["linear", polynomial, gaussian]}),
        define_kernel("product", {"of": [gaussian, polynomial, matern]}),
    ]


def pairs(rng, count, dimension):
    """Return two arrays of shape (count, dimension): plain pairs and extreme ones."""
    x = rng.normal(size=(count, dimension))
    z = rng.normal(size=(count, dimension))
    kind = rng.integers(0, 13, count)

    def of(number):
        return kind == number

    z[of(1)] = x[of(1)]
    z[of(2)] = np.nextafter(x[of(2)], np.inf)
    z[of(3)] = x[of(3)] + rng.normal(size=(of(3).sum(), dimension)) * 1e-9
    for side in (x, z):
        side[of(4)] = 1.6e9 + np.rint(side[of(4)] * 1000) / 1000
        side[of(5)] = np.rint(side[of(5)] * 5)
        side[of(6)] = np.rint(side[of(6)] * 100) / 10
        side[of(7)] *= np.exp2(rng.integers(-1070, -300, (of(7).sum(), dimension)))
        side[of(8)] *= np.exp2(rng.integers(100, 1010, (of(8).sum(), dimension)))
        side[of(9)] *= np.exp2(rng.integers(-60, 60, (of(9).sum(), dimension)))
        side[of(10)] = rng.choice([0.0, 5e-324, -1e-310, 2.0**-1022, 1.0], (of(10).sum(), dimension))
    target = rng.uniform(690.0, 712.0, of(11).sum())
    x[of(11)] = 0.0
    z[of(11)] = (np.sqrt(target / dimension) * rng.choice([1.0, 1 / np.sqrt(0.1)], len(target)))[:, None]
    x[of(12)] = 0.0
    halves = (rng.integers(0, 60, of(12).sum()) + 0.5) * np.log(2)
    z[of(12)] = np.nextafter(np.sqrt(halves / dimension), rng.choice([0.0, np.inf], len(halves)))[:, None]
    return x, z


def table(rng, values, reading):
    """Return the values as points under a reading: binary64, decimal, or `odd`, exact numbers within half an ulp."""
    if reading != "odd":
        return Points(values, Numbers(reading))
    irregular = rng.random(len(values)) < 0.7
    parts = rng.uniform(-0.249, 0.499, values.shape)

    def exact(rows):
        return [
            [
                Fraction(v) + Fraction(float(np.spacing(abs(v)))) * (1 if v >= 0 else -1) * Fraction(t)
                for v, t in entries
            ]
            for entries in (zip(values[i].tolist(), parts[i].tolist(), strict=True) for i in rows)
        ]

    return Points(values, Numbers.BINARY64, irregular, exact)


def ball(value):
    return arb(fmpq(value.numerator, value.denominator))


def truth(kernel, x, z):
    """K(x, z) as a ball, from the definition."""
    if kernel.name in {"sum", "product"}:
        values = [truth(member, x, z) for member in kernel.of]
        found = values[0]
        for value in values[1:]:
            found = found + value if kernel.name == "sum" else found * value
        return found
    if kernel.name in {"linear", "polynomial"}:
        product = sum((a * b for a, b in zip(x, z, strict=True)), Fraction(0))
        return (
            ball(product) if kernel.name == "linear" else ball(kernel.gamma * product + kernel.coef0) ** kernel.degree
        )
    if kernel.name == "laplacian":
        return (-ball(kernel.gamma * sum(abs(a - b) for a, b in zip(x, z, strict=True)))).exp()
    square = sum((a - b) ** 2 for a, b in zip(x, z, strict=True))
    if kernel.name == "gaussian":
        return (-ball(kernel.gamma * square)).exp()
    r = ball(square).sqrt() / ball(kernel.length_scale)
    root = ball(2 * kernel.nu).sqrt() * r
    factor = {1: arb(1), 3: 1 + root, 5: 1 + root + 5 * r * r / 3}[2 * kernel.nu]
    return factor * (-root).exp()


def violations(kernel, left, right, enclosure, shift=Fraction(0)):
    """Return the pairs whose error is not proved to be within its bound, and how many bounds are finite."""
    values, errors = enclosure
    x, z = (points.exact_rows(range(len(values))) for points in (left, right))
    found, finite = [], 0
    with ctx.workprec(BITS):
        for i, (value, error) in enumerate(zip(values.tolist(), errors.tolist(), strict=True)):
            if error == float("inf"):
                continue
            finite += 1
            apart = abs(ball(Fraction(value)) - truth(kernel, x[i], z[i]) - ball(shift))
            if not apart <= ball(Fraction(error)):
                found.append((i, value, error))
    return found, finite
