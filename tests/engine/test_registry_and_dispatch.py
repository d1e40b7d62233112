"""Names, bounds, options, and the reasons of `auto`."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from sepcert.engine.algorithms.perceptron import Order
from sepcert.engine.bounds import BoundInputs
from sepcert.engine.dispatch import choose
from sepcert.engine.registry import ALGORITHMS, find, make_algorithm, register
from sepcert.errors import ConfigError


def test_every_entry_is_complete():
    for name, entry in ALGORITHMS.items():
        assert name == entry.name
        assert find(name) is entry
        for alias in entry.aliases:
            assert find(alias) is entry
        assert entry.needs in ("rows", "gram")
        for text in (entry.summary, entry.proves, entry.paper, entry.bound_text):
            assert text
            assert "\n" not in text
        algorithm = make_algorithm(name)
        assert algorithm.name == name
        assert isinstance(algorithm.options, entry.options)


def test_names_are_unique():
    with pytest.raises(ValueError, match="already"):
        register(replace(find("snkp"), name="nvn"))


def test_unknown_names_and_options():
    with pytest.raises(ConfigError, match="did you mean 'perceptron'") as caught:
        find("perceptorn")
    assert caught.value.code == "CONFIG-ALGORITHM"
    assert "von-neumann" in str(caught.value)
    with pytest.raises(ConfigError, match="takes no option 'tempo'; it takes order, seed") as caught:
        make_algorithm("perceptron", {"tempo": 1})
    assert caught.value.code == "CONFIG-ALGORITHM-OPTION"
    with pytest.raises(ConfigError, match="sideways"):
        make_algorithm("perceptron", {"order": "sideways"})
    assert make_algorithm("perceptron", {"order": "worst"}).options.order is Order.WORST


def test_bounds_are_the_theorems():
    given = BoundInputs(rows=1000, margin=0.1, epsilon=0.01, raw_margin=0.2, largest_norm=3.0)
    assert find("perceptron").bound(given) == pytest.approx(225.0)
    assert find("nvn").bound(given) == pytest.approx(100.0)
    assert find("snkp").bound(given) == pytest.approx(2 * math.sqrt(2 * math.log(1000)) / 0.1)
    nothing = BoundInputs(rows=1000, margin=-0.1)
    for name in ("perceptron", "nvn", "snkp"):
        assert find(name).bound(nothing) == math.inf


@pytest.mark.parametrize(
    ("rows", "dimension", "algorithm", "form"),
    [
        (1_000_000, 21, "min-norm-point", "factored"),
        (100_000, 21, "min-norm-point", "factored"),
        (60, 8, "min-norm-point", "factored"),
        (20_000, 501, "min-norm-point", "factored"),
        (20_000, 5_001, "smoothed-kernel-perceptron", "factored"),
        (200, 20_001, "min-norm-point", "dense"),
        (3_000, 2_001, "smoothed-kernel-perceptron", "factored"),
        (300, 90, "min-norm-point", "factored"),
    ],
)
def test_choice_by_size(rows, dimension, algorithm, form):
    choice = choose(rows, dimension)
    assert (choice.algorithm, choice.form) == (algorithm, form)
    assert str(dimension) in choice.reason
    assert str(rows) in choice.reason
    assert choice.seconds
    assert all(seconds > 0 for seconds in choice.seconds.values())
    limited = algorithm == "smoothed-kernel-perceptron"  # it cannot decide overlap: something must follow it
    assert (choice.then == "min-norm-point") is limited
    assert (choice.max_iterations is not None) is limited
