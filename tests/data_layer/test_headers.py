"""Headers with numerals: found where that is certain, asked for where it is not, never read as data."""

from __future__ import annotations

import pytest

from sepcert.data.headers import find_header


@pytest.mark.parametrize(
    ("content", "features", "label"),
    [
        ("2019,2020,y\n1,2,0\n2,1,1\n", ("2019", "2020"), "y"),
        ("2019,2020,Y\n1,2,0\n2,1,1\n", ("2019", "2020"), "Y"),
        ("2019,2020,y\n1,2,cat\n2,1,dog\n", ("2019", "2020"), "y"),
        ("2019,2020,class\n1,2,n\n2,1,m\n", ("2019", "2020"), "class"),
        ("label,2019,2020\n0,1,2\n1,2,1\n", ("2019", "2020"), "label"),
        ("2019,2020,outcome\n1,2,0\n2,1,1\n", ("2019", "2020"), "outcome"),
        (",0,1,outcome\n7,5.5,6,0\n8,7,8,1\n", ("x1", "0", "1"), "outcome"),
        (",0,1,2\n9,5.5,6,0\n3,7,8,1\n", ("x1", "0", "1"), "2"),
    ],
)
def test_found(files, content, features, label):
    dataset = files.read(content)
    assert dataset.description.dialect.header
    assert dataset.description.features == features
    assert dataset.description.label == label
    assert dataset.description.rows == 2
    assert any("the first line is taken for a header" in note for note in dataset.notes)


@pytest.mark.parametrize(
    "content",
    [
        "2019,2020,y\n1,2,n\n2,1,n\n",
        "1,y,0\n2,n,1\n3,m,1\n",
        "0,1\n5.5,0\n6.5,1\n",
        "0,1,2\n5.5,.5,0\n6.5,1.5,1\n",
        "2019,2020,outcome\n1,2,no\n2,1,no\n",
        "\n\n2019,2020,y\n1,2,n\n2,1,n\n",
    ],
)
def test_asked_for(files, content):
    error = files.error(content)
    assert error.code == "DATA-HEADER"
    assert "--header" in error.advice
    assert "--no-header" in error.advice
    assert error.place.line == 1 + content.count("\n", 0, len(content) - len(content.lstrip()))


def test_asked_for_when_the_label_is_not_last(files):
    assert files.error("outcome,2019,5\n0,1,5\n0,2,6\n", label=1).code == "DATA-HEADER"


def test_asked_for_when_the_name_recurs_far_below(files):
    rows = "".join(f"{k},{k % 7},{'nm'[k % 2]}\n" for k in range(200))
    assert files.read("2019,2020,y\n" + rows).description.rows == 200
    error = files.error("2019,2020,y\n" + rows.replace("n", "m") + "1,2,y\n")
    assert error.code == "DATA-HEADER"
    assert files.error("2019,2020,target\n" + rows + "1,2,target\n").code == "DATA-HEADER"
    words = "".join(f"w{k % 3},{'uv'[k % 2]}\n" for k in range(100))
    error = files.error("red,z\n" + words + "red,u\n", categorical=("1",))
    assert error.code == "DATA-HEADER"
    assert "'red' in it recurs" in error.message


@pytest.mark.parametrize("header", [True, False])
def test_the_answer_is_taken(files, header):
    content = "2019,2020,y\n1,2,n\n2,1,m\n" if header else "2019,2020,y\n1,2,n\n2,1,n\n"
    dataset = files.read(content, header=header)
    assert dataset.description.rows == (2 if header else 3)


@pytest.mark.parametrize(
    "content",
    [
        "5.1,3.5,setosa\n6.2,2.9,virginica\n",
        "1,2,yes\n3,4,no\n5,6,yes\n",
        "0,0,0\n0,1,1\n1,0,1\n1,1,0\n",
        "0,1\n1,0\n2,1\n",
        "1,2,y\n2,1,n\n2,2,y\n",
    ],
)
def test_data_are_no_header(files, content):
    dataset = files.read(content)
    assert not dataset.description.dialect.header
    assert dataset.description.rows == content.count("\n")


def test_a_name_among_the_classes_hints_at_the_header(files):
    error = files.error("2019,2020,y\n1,2,0\n2,1,1\n", header=False)
    assert error.code == "DATA-MANY-CLASSES"
    assert "if 'y' is the name of a column, use --header" in error.advice
    assert "--header" not in files.error("1,2,0\n2,1,1\n3,1,2\n").advice


def test_the_rules_alone():
    assert not find_header([]).header
    assert find_header([["a", "y"]]).header
    assert not find_header([["1", "2"]]).header


def test_a_first_line_with_a_hash(files):
    error = files.error("# written by hand, 2020, and more\n1,2,0\n3,4,1\n")
    assert error.code != "DATA-RAGGED" or "'#'" in str(error)
    error = files.error("# a b y\n1 2 0\n3 4 1\n")
    assert error.code == "DATA-RAGGED"
    assert "'#' does not begin a comment" in error.advice
    assert error.place.line == 1
    assert files.error("# a remark\n1,2,0\n3,4,1\n").code == "DATA-RAGGED"
    dataset = files.read("#a,b,y\n1,2,0\n3,4,1\n")
    assert any("'#' does not begin a comment here: the first column is called '#a'" in note for note in dataset.notes)


@pytest.mark.parametrize("line", ["sep=;", '"sep=;"', "SEP=;\r", "sep=,"])
def test_the_delimiter_line_of_spreadsheets_is_refused(files, line):
    error = files.error(f"{line}\na;b;y\n1;2;0\n3;4;1\n")
    assert error.code == "DATA-DELIMITER"
    assert "'sep=" in error.message
    assert "delete that line" in error.advice


@pytest.mark.parametrize("content", ["a;b;y;\n1;2;0;\n3;4;1;\n", "1,2,0,\n3,4,1,\n", "a\tb\tz\t\n1\t2\t0\t\n"])
@pytest.mark.parametrize("options", [{}, {"missing": "drop-rows"}])
def test_a_delimiter_that_ends_every_line(files, content, options):
    if options and content[0] == "1":
        assert files.error(content, **options).code == "DATA-NO-ROWS"
        return
    error = files.error(content, **options)
    assert error.code == "DATA-MISSING"
    assert "every line ends with a delimiter" in error.message
    assert error.advice == "use --drop 4"


def test_the_empty_column_can_be_dropped(files):
    assert files.read("a;b;z;\n1;2;0;\n3;4;1;\n", drop=("4",)).description.label == "z"
    named = files.error("a;b;y;z\n1;2;0;\n3;4;1;\n")
    assert "every line" not in named.message


def test_row_numbers_are_noted(files):
    dataset = files.read('"","x","y"\n"1",5,0\n"2",4,1\n"3",7,1\n')
    assert "column 'x1' looks like row numbers; --drop x1 leaves it out" in dataset.notes
    assert any("'id'" in n for n in files.read("id,x,y\n0,5,0\n1,4,1\n2,7,1\n").notes if "row numbers" in n)
    for content in ("id,x,y\n1,5,0\n2,4,1\n4,7,1\n", "id,x,y\n2,5,0\n3,4,1\n4,7,1\n"):
        assert not any("row numbers" in note for note in files.read(content).notes)
    kept = files.read("id,x,y\n1,5,0\n2,,1\n3,7,1\n4,7,1\n", missing="drop-rows")
    assert any("row numbers" in note for note in kept.notes)
