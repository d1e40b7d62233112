"""Settings: precedence, faults with their codes and places, and showing them."""

import re
from fractions import Fraction

import pytest

from sepcert.config import Expect, resolve, show
from sepcert.errors import ConfigError, KernelError
from sepcert.status import Numbers


@pytest.fixture
def nowhere(tmp_path):
    """A project file that does not exist."""
    return str(tmp_path / "none.toml")


@pytest.fixture
def settle(tmp_path, nowhere):
    """Resolve with a YAML text, variables and flags."""

    def run(text=None, environment=(), **flags):
        path = None
        if text is not None:
            path = tmp_path / "run.yaml"
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return resolve(flags, dict(environment), None if path is None else str(path), nowhere)

    return run


def test_defaults(settle):
    found = settle()
    assert (found.kernel.name, found.kernel.bias, found.kernel.bias_scale) == ("linear", True, 1)
    assert found.gate.expect is Expect.SEPARABLE
    assert found.data.numbers is None
    assert found.origins == {}


def test_flag_beats_variable_beats_file_beats_default(settle):
    text = "data: {label: from_file, positive: from_file, weight: from_file}"
    environment = {"SEPCERT_LABEL": "from_variable", "SEPCERT_POSITIVE": "from_variable"}
    found = settle(text, environment, label="from_flag")
    assert (found.data.label, found.data.positive, found.data.weight) == ("from_flag", "from_variable", "from_file")
    assert found.data.delimiter is None
    assert found.origins["data", "label"] == "--label"
    assert found.origins["data", "positive"] == "SEPCERT_POSITIVE"
    assert found.origins["data", "weight"].endswith("run.yaml:1")


def test_the_example_of_the_reference(settle):
    found = settle(
        "kernel: {name: linear, bias: true, bias_scale: 1}\n"
        "data: {label: class, positive: malignant, drop: [id], numbers: decimal}\n"
        "engine: {algorithm: auto, epsilon: 1e-6, time_limit_seconds: 60}\n"
        "gate: {expect: separable, min_margin: 0.01}\n"
    )
    assert found.engine.epsilon == 1e-6
    assert found.data.drop == ("id",)
    assert found.data.numbers is Numbers.DECIMAL
    assert found.gate.min_margin == 0.01


def test_texts_stay_as_written(settle):
    found = settle("data: {positive: yes, label: 007, drop: [no, 1_000, 2001-01-01, ~x]}")
    assert (found.data.positive, found.data.label) == ("yes", "007")
    assert found.data.drop == ("no", "1_000", "2001-01-01", "~x")


def test_bias_scale_is_exact(settle):
    assert settle(bias_scale="0.1").kernel.bias_scale == Fraction(1, 10)
    assert settle("kernel: {bias_scale: 1/3}").kernel.bias_scale == Fraction(1, 3)


def test_null_means_the_default_and_empty_sections_say_nothing(settle):
    assert settle("data: {label: null, drop: ~}\nengine:\n").data.label is None
    assert settle("").data.label is None
    assert settle("# nothing\n").data.label is None


def test_flags_of_two_faces(settle):
    assert settle("kernel: {bias: false}").kernel.bias is False
    assert settle("kernel: {bias: false}", bias=True).kernel.bias is True
    assert settle(header=False).origins["data", "header"] == "--no-header"


def test_a_list_replaces_the_list_below(settle):
    assert settle("data: {drop: [a, b]}", drop=["c"]).data.drop == ("c",)
    assert settle(environment={"SEPCERT_DROP": "a, b"}).data.drop == ("a", "b")
    assert settle("data: {drop: [a]}", {"SEPCERT_DROP": ""}, drop=[]).data.drop == ("a",)


BROKEN = [
    ("just words", "CONFIG-MAPPING", 1),
    ("- a\n- b\n", "CONFIG-MAPPING", 1),
    ("data: 3\n", "CONFIG-MAPPING", 1),
    ("kernel: linear\n", "CONFIG-MAPPING", 1),
    ("data: {label: a\n", "CONFIG-SYNTAX", None),
    ("data:\n\tlabel: a\n", "CONFIG-SYNTAX", 2),
    ("data: {label: *nothing}\n", "CONFIG-SYNTAX", 1),
    ("[" * 5000, "CONFIG-SYNTAX", None),
    (b"data: {label: \xff}\n", "CONFIG-SYNTAX", None),
    (b"data: {label: \x00}\n", "CONFIG-SYNTAX", None),
    ("data: {label: a}\n---\ndata: {label: b}\n", "CONFIG-SYNTAX", 2),
    ("data: {label: a}\nengine: {}\ndata: {label: b}\n", "CONFIG-DUPLICATE", 3),
    ("data:\n  label: a\n  label: b\n", "CONFIG-DUPLICATE", 3),
    ("date: {label: a}\n", "CONFIG-KEY", 1),
    ("data:\n  lable: a\n", "CONFIG-KEY", 2),
    ("kernel: {nam: linear}\n", "CONFIG-KEY", 1),
    ("kernel: {gamma: 0.5}\n", "CONFIG-KEY", 1),
    ("? [a, b]\n: c\n", "CONFIG-TYPE", 1),
    ("data: {label: [a]}\n", "CONFIG-TYPE", 1),
    ("data: {label: {a: b}}\n", "CONFIG-TYPE", 1),
    ("data: {drop: id}\n", "CONFIG-TYPE", 1),
    ("data: {drop: [[id]]}\n", "CONFIG-TYPE", 1),
    ("data: {drop: [null]}\n", "CONFIG-TYPE", 1),
    ("engine:\n  epsilon: small\n", "CONFIG-VALUE", 2),
    ("engine: {epsilon: .nan}\n", "CONFIG-VALUE", 1),
    ("engine: {epsilon: 1e999}\n", "CONFIG-VALUE", 1),
    ("engine: {gap: 0}\n", "CONFIG-VALUE", 1),
    ("engine: {max_iterations: 1.5}\n", "CONFIG-VALUE", 1),
    ("engine: {seed: -1}\n", "CONFIG-VALUE", 1),
    ("kernel: {bias: perhaps}\n", "CONFIG-VALUE", 1),
    ("kernel: {bias_scale: 1e999999999}\n", "CONFIG-VALUE", 1),
    ("kernel: {bias_scale: -1}\n", "CONFIG-VALUE", 1),
    ("kernel: {bias_scale: 1/0}\n", "CONFIG-VALUE", 1),
    ("gate: {expect: separate}\n", "CONFIG-VALUE", 1),
    ("data: {delimiter: '::'}\n", "CONFIG-VALUE", 1),
    ("data: {label: ''}\n", "CONFIG-VALUE", 1),
]


@pytest.mark.parametrize(("text", "code", "line"), BROKEN)
def test_faults_of_a_file(settle, text, code, line):
    with pytest.raises(ConfigError) as caught:
        settle(text)
    assert caught.value.code == code
    assert caught.value.place is not None
    assert caught.value.place.path.endswith("run.yaml")
    if line is not None:
        assert caught.value.place.line == line


def test_yaml_never_makes_objects(settle, tmp_path):
    target = tmp_path / "made"
    text = f"data: {{label: !!python/object/apply:os.system ['touch {target}']}}"
    with pytest.raises(ConfigError):
        settle(text)
    assert not target.exists()


def test_the_nearest_name_is_said(settle):
    with pytest.raises(ConfigError, match="did you mean label"):
        settle("data: {lable: a}")
    with pytest.raises(ConfigError, match="did you mean SEPCERT_LABEL"):
        settle(environment={"SEPCERT_LABLE": "a"})
    with pytest.raises(ConfigError, match="did you mean data"):
        settle("dat: {label: a}")


def test_faults_of_variables_and_flags_name_them(settle):
    with pytest.raises(ConfigError, match="SEPCERT_GAP: 'wide' is not a number"):
        settle(environment={"SEPCERT_GAP": "wide"})
    with pytest.raises(ConfigError, match="--gap: '-1' is not above zero"):
        settle(gap="-1")


def test_a_kernel_that_is_not_built_names_those_that_are(settle):
    with pytest.raises(
        KernelError, match=r"polynomial.*built kernels: gaussian, laplacian, linear, matern, product, sum"
    ):
        settle("kernel: {name: polynomial, degree: 2}")
    with pytest.raises(KernelError, match="did you mean 'linear'"):
        settle(kernel="liner")


def test_a_missing_file_and_a_folder(tmp_path, nowhere):
    for path in [tmp_path / "absent.yaml", tmp_path]:
        with pytest.raises(ConfigError) as caught:
            resolve({}, {}, str(path), nowhere)
        assert caught.value.code == "CONFIG-FILE"


def test_the_variable_of_the_file(tmp_path, nowhere):
    path = tmp_path / "c.yaml"
    path.write_text("data: {label: v}")
    assert resolve({}, {"SEPCERT_CONFIG": str(path)}, None, nowhere).data.label == "v"


def test_pyproject(tmp_path):
    project = tmp_path / "pyproject.toml"
    project.write_text('[tool.sepcert.data]\nlabel = "v"\ndrop = ["a", 3]\n[tool.sepcert.engine]\nepsilon = 1e-6\n')
    found = resolve({}, {}, None, str(project))
    assert (found.data.label, found.data.drop, found.engine.epsilon) == ("v", ("a", "3"), 1e-6)
    assert found.origins["data", "label"].endswith("pyproject.toml [tool.sepcert.data]")
    other = tmp_path / "c.yaml"
    other.write_text("engine: {seed: 3}")
    assert resolve({}, {}, str(other), str(project)).data.label is None


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("[tool.sepcert\n", "CONFIG-SYNTAX"),
        ("[tool]\nsepcert = 3\n", "CONFIG-MAPPING"),
        ("[tool.sepcert]\ndata = 3\n", "CONFIG-MAPPING"),
        ("[tool.sepcert.date]\nlabel = 'a'\n", "CONFIG-KEY"),
        ("[tool.sepcert.data]\nlable = 'a'\n", "CONFIG-KEY"),
        ("[tool.sepcert.data]\nlabel = 2001-01-01\n", "CONFIG-TYPE"),
        ("[tool.sepcert.kernel]\nbias = 'perhaps'\n", "CONFIG-VALUE"),
    ],
)
def test_faults_of_pyproject(tmp_path, text, code):
    project = tmp_path / "pyproject.toml"
    project.write_text(text)
    with pytest.raises(ConfigError) as caught:
        resolve({}, {}, None, str(project))
    assert caught.value.code == code
    assert caught.value.place.path == str(project)


def test_a_project_file_of_others_is_left_alone(tmp_path):
    project = tmp_path / "pyproject.toml"
    project.write_text("this is not even toml")
    assert resolve({}, {}, None, str(project)).origins == {}


def test_a_bias_scale_without_a_bias_is_refused(settle):
    text = "kernel: {bias_scale: 2}"
    with pytest.raises(ConfigError, match="there is no bias") as caught:
        settle(text, bias=False)
    assert caught.value.code == "CONFIG-CONFLICT"
    assert caught.value.place.line == 1
    assert settle("kernel: {bias_scale: 1}", bias=False).kernel.bias is False


def test_what_is_shown_can_be_read_again(settle, tmp_path, nowhere):
    odd = 'a "quoted" # \u00e9 value: \\ [x]'
    found = settle(label=odd, drop=["x,y", "null"], bias_scale="1/3", epsilon="1e-6", delimiter="tab")
    text = show(found)
    assert re.search(r"label: .*# --label", text)
    assert re.search(r"seed: 0 +# default", text)
    path = tmp_path / "shown.yaml"
    path.write_text(text)
    again = resolve({}, {}, str(path), nowhere)
    for section in ["kernel", "data", "engine", "gate", "output"]:
        assert getattr(again, section) == getattr(found, section)
