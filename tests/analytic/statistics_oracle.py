#!/usr/bin/env python3
"""Print what SciPy says of some samples: the answers that test_statistics_oracle.c expects.

    /usr/bin/python3 tests/analytic/statistics_oracle.py > tests/analytic/statistics_oracle.txt
    /usr/bin/python3 tests/analytic/statistics_oracle.py --check tests/analytic/statistics_oracle.txt

The second compares the file with what is computed now: to 1e-11.

Needs SciPy 1.10 or newer (Debian: python3-scipy).  Lines of a set: `set NAME`, samples as `a`, `b` (pairs) and `c`
(another sample), then `KEY NUMBER`.  Where SciPy has no function, the definition is written out here with NumPy: the
interval of Welch's t, Holm's rule, the levels of looks, MSER-5, batch means, Fieller's interval.
"""
import contextlib
import io
import math
import sys

import numpy
import scipy
from scipy import optimize, stats

LEVEL = 0.95


def write(key, value):
    print(key, repr(float(value)))


def samples():
    """Twenty sets: name, pairs (a, b), and another sample c."""
    chance = numpy.random.RandomState(20261125)

    def normal(n, mean, sd):
        return chance.normal(mean, sd, n)

    def pair(n, shift, sd, base=100.0, spread=20.0):
        a = normal(n, base, spread)
        return a, a + normal(n, shift, sd)

    made = []

    def add(name, ab, c, digits=6):
        made.append((name, *(numpy.round(values, digits) for values in (*ab, c))))

    add("two pairs", pair(2, 1, 3), normal(3, 100, 20))
    add("three pairs", pair(3, -1, 3), normal(2, 100, 20))
    add("five pairs", pair(5, 2, 3), normal(5, 105, 20))
    add("five pairs, far", pair(5, 40, 3), normal(6, 180, 5))
    add("six pairs", pair(6, 0, 3), normal(4, 100, 20))
    add("eight pairs, no effect", pair(8, 0, 1), normal(8, 100, 20))
    add("ten pairs", pair(10, 5, 8), normal(12, 108, 30))
    add("ten pairs, unequal spread", pair(10, 5, 8, spread=1), normal(25, 103, 40))
    a = chance.lognormal(3, 1, 12)
    add("skewed", (a, a * chance.lognormal(0.1, 0.4, 12)), chance.lognormal(3.3, 1, 15))
    a = chance.lognormal(5, 2, 20)
    add("very skewed", (a, a * chance.lognormal(0.2, 0.5, 20)), chance.lognormal(5.5, 2, 20))
    a = chance.poisson(6, 15).astype(float)
    add("counts with ties and zeros", (a, a + chance.poisson(2, 15) - 1), chance.poisson(8, 20), 0)
    a = chance.poisson(200, 20).astype(float)
    add("counts with ties", (a, a + chance.choice([-3, -2, -1, 1, 2, 3, 4], 20)), chance.poisson(210, 30), 0)
    add("large offset", pair(10, 1, 2, base=1e9, spread=5), normal(9, 1e9 + 3, 5))
    a = normal(14, 0.7, 0.02)
    add("ratios", (a, a + normal(14, -0.004, 0.006)), normal(10, 0.69, 0.02))
    add("negative", pair(20, -3, 6, base=-50), normal(18, -60, 10))
    add("thirty pairs", pair(30, 1, 4), normal(30, 104, 20))
    add("forty pairs", pair(40, 1, 4), normal(45, 104, 20))
    add("forty-nine pairs", pair(49, 1, 4), normal(49, 110, 20))
    add("fifty pairs", pair(50, 1, 4), normal(50, 110, 20))
    add("a hundred pairs", pair(100, 0.5, 4), normal(70, 103, 20))
    return made


def quantile(level, df):
    """Where t has half of 1 - level beyond it: a root of SciPy's distribution function.  Its inverse, t.ppf, is only
    good to 2e-9 in SciPy 1.10: t.sf(t.isf(0.0005, 5), 5) is 0.000499999995."""
    return optimize.brentq(lambda t: stats.t.sf(t, df) - (1 - level) / 2, 0, 1e6, xtol=1e-15, rtol=1e-14)


def interval(mean, values, level):
    half = quantile(level, len(values) - 1) * numpy.std(values, ddof=1) / math.sqrt(len(values))
    return mean - half, mean + half


def students(a, b, c):
    one = stats.ttest_1samp(a, 99.0)
    low, high = interval(numpy.mean(a), a, LEVEL)
    write("one.t", one.statistic)
    write("one.p", one.pvalue)
    write("one.low", low)
    write("one.high", high)
    paired = stats.ttest_rel(b, a)
    low, high = interval(numpy.mean(b - a), b - a, LEVEL)
    write("paired.t", paired.statistic)
    write("paired.p", paired.pvalue)
    write("paired.low", low)
    write("paired.high", high)
    low, high = interval(numpy.mean(b - a), b - a, 0.999)
    write("paired.low999", low)
    welch = stats.ttest_ind(c, a, equal_var=False)
    parts = [numpy.var(s, ddof=1) / len(s) for s in (a, c)]
    df = sum(parts) ** 2 / sum(p * p / (len(s) - 1) for p, s in zip(parts, (a, c)))
    half = quantile(LEVEL, df) * math.sqrt(sum(parts))
    write("welch.t", welch.statistic)
    write("welch.p", welch.pvalue)
    write("welch.low", numpy.mean(c) - numpy.mean(a) - half)
    write("welch.high", numpy.mean(c) - numpy.mean(a) + half)


def ranks(a, b, c):
    """As R's wilcox.test chooses: exact below fifty values without ties and zeros."""
    d = b - a
    ties = len(set(abs(d[d != 0]))) < len(d[d != 0])
    exact = len(d) < 50 and not ties and not (d == 0).any()
    test = stats.wilcoxon(d, zero_method="wilcox", correction=True, mode="exact" if exact else "approx")
    write("pairs.exact", exact)
    write("pairs.v", sum(stats.rankdata(abs(d[d != 0]))[d[d != 0] > 0]))
    write("pairs.p", test.pvalue)
    both = numpy.concatenate([a, c])
    exact = len(a) < 50 and len(c) < 50 and len(set(both)) == len(both)
    test = stats.mannwhitneyu(c, a, method="exact" if exact else "asymptotic")
    write("samples.exact", exact)
    write("samples.w", test.statistic)
    write("samples.p", test.pvalue)


def holm(p):
    order = numpy.argsort(p, kind="stable")
    adjusted = numpy.empty(len(p))
    adjusted[order] = numpy.minimum(1, numpy.maximum.accumulate((len(p) - numpy.arange(len(p))) * p[order]))
    return adjusted


def looks(n, alpha):
    """The levels of looks, on a fine grid with Simpson's rule."""
    points = 4001
    times = numpy.array(n) / n[-1]
    density = grid = weights = None
    before = 0.0
    for k, time in enumerate(times):
        spent, step = alpha * (time - before), math.sqrt(time - before)

        def crossed(z):
            bound = z * math.sqrt(time)
            if k == 0:
                return 2 * stats.norm.sf(z) - spent
            return numpy.sum(weights * density * (stats.norm.sf((bound - grid) / step) +
                                                  stats.norm.cdf((-bound - grid) / step))) - spent

        z = optimize.brentq(crossed, 0.1, 20, xtol=1e-14, rtol=1e-14)
        write("look%d" % k, 2 * stats.norm.sf(z))
        new_grid = numpy.linspace(-z * math.sqrt(time), z * math.sqrt(time), points)
        if k == 0:
            density = stats.norm.pdf(new_grid, scale=step)
        else:
            density = numpy.array([numpy.sum(weights * density * stats.norm.pdf(x - grid, scale=step))
                                   for x in new_grid])
        grid = new_grid
        weights = numpy.full(points, 2.0)
        weights[1::2] = 4
        weights[0] = weights[-1] = 1
        weights *= (grid[1] - grid[0]) / 3
        before = time


def series(values):
    """MSER-5 by its definition, the front kept if its mean is like the rest's, then batch means and Skart's ends."""
    def cut(kept, k):
        size = len(kept) // k
        means = kept[len(kept) - k * size:].reshape(k, size).mean(axis=1)
        squares = numpy.sum((means - means.mean()) ** 2)
        return means, size, 1 - numpy.sum(numpy.diff(means) ** 2) / (2 * squares)

    def growth(c):
        return (1 + c) / (1 - c) if c > 0 else 1

    z = numpy.array([numpy.mean(values[i:i + 5]) for i in range(0, len(values) // 5 * 5, 5)])
    statistic = [numpy.sum((z[d:] - numpy.mean(z[d:])) ** 2) / (len(z) - d) ** 2 for d in range(len(z) // 2 + 1)]
    warmup = 5 * int(numpy.argmin(statistic))
    write("warmup", warmup)
    if 0 < warmup < 5 * (len(z) // 2):
        means, size, c = cut(values[warmup:], 20)
        of_one = means.var(ddof=1) * size * growth(min(c, 0.9))
        rest = len(values) - warmup
        if abs(values[:warmup].mean() - values[warmup:].mean()) <= 6 * math.sqrt(of_one / warmup + of_one / rest):
            warmup = 0
    kept = values[warmup:]
    for k in (30, 20, 10):
        means, size, c = cut(kept, k)
        if c * math.sqrt((k * k - 1) / (k - 2)) <= stats.norm.ppf(0.9):
            break
    else:
        k = 0
    write("batches", k)
    if k:
        error = math.sqrt(means.var(ddof=1) / k * growth(c))
        bend = stats.skew(means, bias=False) / (6 * math.sqrt(k))
        t = stats.t.ppf((1 + LEVEL) / 2, k - 1)
        ends = [(numpy.cbrt(1 + 6 * bend * (x - bend)) - 1) / (2 * bend) for x in (t, -t)]
        write("mean", means.mean())
        write("low", means.mean() - ends[0] * error)
        write("high", means.mean() - ends[1] * error)


def autoregression(count, phi, start, seed):
    """x_i = phi x_(i-1) + u_i, u_i uniform in whole thousandths from a generator that C repeats (Park and Miller)."""
    values, x = [], start
    for _ in range(count):
        seed = seed * 16807 % 2147483647
        x = phi * x + (seed % 2001 - 1000) / 1000
        values.append(x)
    return numpy.array(values)


def check(path):
    """Compare the file with what is computed now; returns the number of lines that differ."""
    with open(path, encoding="utf-8") as file:
        kept = [line.split() for line in file if not line.startswith("#")]
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        write_all()
    now = [line.split() for line in out.getvalue().splitlines() if not line.startswith("#")]
    wrong = abs(len(kept) - len(now))
    for old, new in zip(kept, now):
        is_close = old == new
        if old[0] == new[0] and len(old) == len(new) == 2 and "." in old[1]:
            x, y = float(old[1]), float(new[1])
            is_close = abs(x - y) <= 1e-11 * abs(x)
        if not is_close:
            print("kept: %s\nnow:  %s" % (" ".join(old), " ".join(new)))
            wrong += 1
    print("note: %d lines of %s compared with SciPy %s, %d differ" % (len(now), path, scipy.__version__, wrong))
    return wrong


def write_all():
    print("# SciPy %s, NumPy %s: see statistics_oracle.py" % (scipy.__version__, numpy.__version__))
    for name, a, b, c in samples():
        print("set", name)
        for key, values in (("a", a), ("b", b), ("c", c)):
            print(key, *(repr(float(v)) for v in values))
        students(a, b, c)
        ranks(a, b, c)
    print("set holm")
    p = numpy.array([0.01, 0.04, 0.03, 0.005, 0.5, 0.03, 0.9])
    print("a", *(repr(float(v)) for v in p))
    for i, value in enumerate(holm(p)):
        write("holm%d" % i, value)
    for n, alpha in (((5, 10, 20, 40), 0.05), ((5, 10, 20, 40), 0.005), ((5, 12), 0.05), ((5, 10, 15), 0.1)):
        print("set looks")
        print("a", *n)
        print("b", alpha)
        looks(n, alpha)
    for count, phi, start, seed in ((2000, 0.5, 40, 7), (5003, 0.9, 300, 11), (20000, 0.99, 500, 5), (1000, 0.0, 0, 3),
                                    (1500, 0.995, 0, 9)):
        print("set series")
        print("a", count, phi, start, seed)
        series(autoregression(count, phi, start, seed))


def main(arguments):
    if arguments[:1] == ["--check"] and len(arguments) == 2:
        return 1 if check(arguments[1]) else 0
    if arguments:
        print("usage: statistics_oracle.py [--check FILE]", file=sys.stderr)
        return 2
    write_all()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
