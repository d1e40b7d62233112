import importlib.util
import sys
from pathlib import Path

import pytest


def _module(name):
    if name not in sys.modules:
        specification = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
        module = importlib.util.module_from_spec(specification)
        sys.modules[name] = module
        specification.loader.exec_module(module)
    return sys.modules[name]


@pytest.fixture(scope="session")
def plain_checker():
    """The definition of truth in plain Fractions."""
    return _module("plain_checker")


@pytest.fixture(scope="session")
def planted_evidence():
    """Problems with evidence that is true by construction."""
    _module("plain_checker")
    return _module("planted_evidence")


@pytest.fixture(scope="session")
def kernel_cases():
    """Hard pairs of points, and kernel values from the definitions."""
    return _module("kernel_cases")
