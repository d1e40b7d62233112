"""The truth that a generator states, checked by `sepcert.check` and by plain arithmetic."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import sepcert
from sepcert.errors import ConfigError
from sepcert.workflows.generate import DIGITS, GENERATORS, generate

SMALL = {
    "wedge": {"rows": 40, "r": 30.0},
    "separable": {"rows": 60, "columns": 4, "rho": 0.02},
    "infeasible": {"rows": 60, "columns": 4, "rho": 0.03},
    "sphere": {"rows": 60, "columns": 4},
    "noisy": {"rows": 60, "columns": 4},
    "midpoints": {},
}


def checked(made, **options):
    return sepcert.check(made.X, made.y, bias=made.truth.bias, numbers=options.pop("numbers", "decimal"), **options)


def unit_rows(made):
    points = np.column_stack([np.ones(len(made.X)), made.X]) if made.truth.bias else made.X
    signed = points * made.y[:, None]
    return signed / np.linalg.norm(signed, axis=1)[:, None]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", sorted(GENERATORS))
def test_check_agrees_with_the_truth(name, seed):
    made = generate(name, seed=seed, **SMALL[name])
    readings = ["decimal", "binary64"] if made.truth.numbers is None else [made.truth.numbers.value]
    for numbers in readings:
        found = checked(made, numbers=numbers, gap=1e-9)
        assert found.verified
        assert (found.verdict, found.separation) == (made.truth.verdict, made.truth.separation)
        lower, upper = made.truth.margin_lower, made.truth.margin_upper
        if found.verdict == "separable":
            assert lower <= found.margin.upper
            assert found.margin.lower <= upper
            assert found.margin.upper - found.margin.lower < 1e-6
            assert lower > 0
        else:
            assert upper <= 0


@pytest.mark.parametrize("name", sorted(GENERATORS))
def test_the_same_seed_gives_the_same_data(name):
    one, same, other = (generate(name, seed=seed, **SMALL[name]) for seed in (5, 5, 6))
    assert np.array_equal(one.X, same.X)
    assert np.array_equal(one.y, same.y)
    assert one.to_dict() == same.to_dict()
    assert not np.array_equal(one.X, other.X)


@pytest.mark.parametrize("name", sorted(GENERATORS))
def test_few_digits_both_classes_and_the_size_that_was_asked_for(name):
    made = generate(name, **SMALL[name])
    assert made.X.shape == (made.options["rows"], made.options["columns"])
    assert set(made.y.tolist()) == {-1, 1}
    assert all(float(f"{v:.{DIGITS}g}") == v for v in made.X.ravel())
    assert made.options == {**GENERATORS[name].defaults, **SMALL[name], "seed": 0}


@pytest.mark.parametrize("r", [1.0, 3.0, 1000.0])
def test_the_wedge_lies_on_its_rays(r):
    made = generate("wedge", rows=200, r=r, seed=1)
    for row, y in zip(made.X.tolist(), made.y.tolist(), strict=True):
        first, second = (Fraction(repr(v)) for v in row)
        assert (6 * second == 8 * first) if y > 0 else (8 * second == 6 * first)
        assert first > 0
        assert Fraction(1) / Fraction(r) ** 2 <= first**2 + second**2 <= Fraction(r) ** 2
    assert (made.truth.margin_lower + made.truth.margin_upper) / 2 == pytest.approx(math.sqrt(2) / 10, abs=1e-15)
    sizes = np.log(np.linalg.norm(made.X, axis=1))
    assert abs(sizes.mean()) <= 0.2 * math.log(r) + 1e-9


@pytest.mark.parametrize(("columns", "rho"), [(1, 0.9), (1, 1e-6), (20, 0.5), (3, 0.98)])
def test_planted_margins(columns, rho):
    made = generate("separable", rows=30, columns=columns, rho=rho)
    found = checked(made, gap=1e-12)
    assert found.margin.lower == pytest.approx(rho, abs=1e-10)
    assert made.truth.margin_lower <= found.margin.upper
    assert found.margin.lower <= made.truth.margin_upper


@pytest.mark.parametrize(("columns", "rho"), [(1, 0.4), (2, 0.1), (3, 0.3)])
def test_the_ball_of_infeasible_data_is_as_large_as_stated(columns, rho):
    """|rho| is the least distance of a facet of the hull from 0: all facets of a small one, one by one."""
    made = generate("infeasible", rows=4 * columns + 3, columns=columns, rho=rho, seed=2)
    rows = unit_rows(made)
    size = columns + 1
    distances = []
    for chosen in itertools.combinations(range(len(rows)), size):
        block = rows[list(chosen)]
        if abs(np.linalg.det(block)) < 1e-9:
            continue
        normal = np.linalg.solve(block, np.ones(size))
        if (rows @ normal <= 1 + 1e-8).all():
            distances.append(1 / np.linalg.norm(normal))
    assert min(distances) == pytest.approx(rho, abs=1e-10)
    assert made.truth.margin_lower <= -min(distances) <= made.truth.margin_upper


def test_noise():
    made = generate("noisy", rows=2000, columns=3, noise=0.2, seed=4)
    flipped = int(made.truth.because.split()[0])
    assert 300 < flipped < 500
    assert generate("noisy", rows=50, columns=3, noise=0.0).truth.verdict == "separable"
    assert generate("noisy", rows=8, columns=3, noise=1e-9).truth.verdict == "inseparable"
    assert checked(generate("noisy", rows=8, columns=3, noise=1e-9)).separation == "overlap"
    assert checked(generate("noisy", rows=50, columns=3, noise=0.0)).separation == "complete"


def test_midpoints_are_exact_in_decimals():
    made = generate("midpoints", rows=7, columns=3, seed=1)
    rows = sorted(
        [Fraction(repr(v)) for v in row] + [y] for row, y in zip(made.X.tolist(), made.y.tolist(), strict=True)
    )
    for before, row, after in zip(rows, rows[1:], rows[2:], strict=False):
        assert [2 * v for v in row[:3]] == [a + b for a, b in zip(before[:3], after[:3], strict=True)]
        assert before[3] == after[3] == -row[3]


def test_midpoints_depend_on_the_reading():
    verdicts = set()
    for seed in range(5):
        made = generate("midpoints", seed=seed)
        assert checked(made).separation == "overlap"
        verdicts.add(str(checked(made, numbers="binary64").verdict))
    assert "separable" in verdicts


@pytest.mark.parametrize(
    ("name", "options", "code"),
    [
        ("wedg", {}, "GENERATE-NAME"),
        ("nothing like it", {}, "GENERATE-NAME"),
        ("wedge", {"rho": 0.1}, "GENERATE-OPTION"),
        ("wedge", {"columns": 3}, "GENERATE-OPTION"),
        ("wedge", {"r": 0.5}, "GENERATE-OPTION"),
        ("wedge", {"rows": 1}, "GENERATE-OPTION"),
        ("sphere", {"columns": 0}, "GENERATE-OPTION"),
        ("separable", {"rho": 0.0}, "GENERATE-OPTION"),
        ("separable", {"rho": 1.0}, "GENERATE-OPTION"),
        ("infeasible", {"rho": 0.5}, "GENERATE-OPTION"),
        ("infeasible", {"rho": -0.1}, "GENERATE-OPTION"),
        ("infeasible", {"rows": 10}, "GENERATE-OPTION"),
        ("noisy", {"noise": 0.6}, "GENERATE-OPTION"),
        ("noisy", {"rows": 11}, "GENERATE-OPTION"),
        ("midpoints", {"rows": 2}, "GENERATE-OPTION"),
    ],
)
def test_what_cannot_be_made(name, options, code):
    with pytest.raises(ConfigError) as caught:
        generate(name, **options)
    assert caught.value.code == code
    assert caught.value.advice


@pytest.mark.parametrize("columns", [1, 5, 40])
def test_the_advice_about_the_largest_ball_can_be_followed(columns):
    with pytest.raises(ConfigError) as caught:
        generate("infeasible", columns=columns, rows=200, rho=0.99)
    largest = float(caught.value.advice.split(" to ")[1].split(",")[0])
    made = generate("infeasible", columns=columns, rows=200, rho=largest)
    assert made.truth.margin_upper < 0
