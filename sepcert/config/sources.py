"""Reading configuration files and the environment into raw text, with the place of every value.

A file is never turned into Python objects: YAML is composed into nodes (which constructs nothing, keeps ``007``,
``yes`` and ``1e-6`` as they are written, and knows lines), and the parser of each setting reads the text.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sepcert.config.settings import SECTIONS, SETTINGS, Setting
from sepcert.errors import ConfigError, Place, register
from sepcert.kernels import parameter_names

if TYPE_CHECKING:
    from yaml.nodes import MappingNode, Node

FILE = register("CONFIG-FILE", "A configuration file cannot be read.")
SYNTAX = register("CONFIG-SYNTAX", "A configuration file is not well-formed YAML or TOML.")
MAPPING = register("CONFIG-MAPPING", "A mapping of keys to values was expected.")
DUPLICATE = register("CONFIG-DUPLICATE", "A key occurs twice.")
KEY = register("CONFIG-KEY", "There is no such key or variable.")
TYPE = register("CONFIG-TYPE", "A value has the wrong type.")
VALUE = register("CONFIG-VALUE", "A value is out of its range or none of the choices.")

CONFIG_VARIABLE = "SEPCERT_CONFIG"
NESTED = "of"
"""The key of the kernel section that holds a list of kernels."""

Key = tuple[str, str]
Raw = str | tuple[str, ...] | None


@dataclass(frozen=True)
class Given:
    """A value as it was written.

    Attributes
    ----------
    raw : str, tuple of str, or None
        The text, the texts of a list, or an explicit null (the default holds).
    origin : str
        For people: ``--label``, ``SEPCERT_LABEL`` or ``run.yaml:3``.
    place : Place or None
        Where it stands in a file.
    nested : list or None
        Kernels within a kernel: texts (names) and dicts of their keys, in place of `raw`.
    """

    raw: Raw
    origin: str
    place: Place | None = None
    nested: list[object] | None = None


@dataclass(frozen=True)
class Source:
    """What one file says: settings, and the kernel's own parameters by name."""

    settings: dict[Key, Given]
    kernel_parameters: dict[str, Given]


def nearest(word: str, known: Iterable[str]) -> str:
    """Return advice that names the nearest known word, or else all of them."""
    words = sorted(known)
    near = difflib.get_close_matches(word, words, n=1, cutoff=0.6)
    return f"did you mean {near[0]}?" if near else f"known: {', '.join(words)}"


def _names(section: str) -> list[str]:
    return [setting.name for setting in SETTINGS if setting.section == section]


class _Collector:
    """Gathers the values of one file and refuses unknown and repeated keys."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.source = Source({}, {})

    def section(self, name: str, place: Place) -> None:
        if name not in SECTIONS:
            raise ConfigError(KEY, f"there is no section {name!r}", place=place, advice=nearest(name, SECTIONS))

    def value(self, section: str, name: str, given: Given) -> None:
        names = _names(section)
        if name in names:
            self.source.settings[section, name] = given
        elif section == "kernel" and (
            name in [*parameter_names(), NESTED] or not difflib.get_close_matches(name, names, n=1, cutoff=0.75)
        ):
            self.source.kernel_parameters[name] = given
        else:
            raise ConfigError(
                KEY, f"there is no key {name!r} in {section!r}", place=given.place, advice=nearest(name, names)
            )


def _read(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise ConfigError(
            FILE, f"cannot read the file: {error.strerror or error}", place=Place(path), advice="check the path"
        ) from None


def _place(path: str, node: Node) -> Place:
    return Place(path, node.start_mark.line + 1, node.start_mark.column + 1)


def _entries(path: str, node: MappingNode) -> list[tuple[str, Node, Node]]:
    from yaml.nodes import ScalarNode

    found: list[tuple[str, Node, Node]] = []
    seen: set[str] = set()
    for key, value in node.value:
        if not isinstance(key, ScalarNode):
            raise ConfigError(TYPE, "a key must be a plain word", place=_place(path, key))
        if key.value in seen:
            raise ConfigError(
                DUPLICATE, f"the key {key.value!r} occurs twice", place=_place(path, key), advice="remove one"
            )
        seen.add(key.value)
        found.append((key.value, key, value))
    return found


def _yaml_text(path: str, node: Node) -> str | None:
    from yaml.nodes import ScalarNode

    if not isinstance(node, ScalarNode):
        raise ConfigError(TYPE, "a single value was expected here", place=_place(path, node))
    if node.tag == "tag:yaml.org,2002:null":
        return None
    return str(node.value)


def _yaml_raw(path: str, node: Node) -> Raw:
    from yaml.nodes import SequenceNode

    if not isinstance(node, SequenceNode):
        return _yaml_text(path, node)
    items = [_yaml_text(path, item) for item in node.value]
    if None in items:
        raise ConfigError(TYPE, "the list has an empty item", place=_place(path, node))
    return tuple(str(item) for item in items)


def _yaml_kernels(path: str, node: Node) -> list[object] | None:
    """Return the kernels of a list, each a name or a mapping; None where the node is no list."""
    from yaml.nodes import MappingNode, SequenceNode

    if not isinstance(node, SequenceNode):
        return None
    found: list[object] = []
    for item in node.value:
        if isinstance(item, MappingNode):
            members: dict[str, object] = {}
            for name, _, value in _entries(path, item):
                nested = _yaml_kernels(path, value) if name == NESTED else None
                members[name] = _yaml_text(path, value) if nested is None else nested
            found.append(members)
        else:
            found.append(_yaml_text(path, item))
    return found


def _compose(path: str) -> Node | None:
    import yaml

    try:
        return yaml.compose(_read(path).decode("utf-8-sig"), Loader=yaml.SafeLoader)
    except UnicodeDecodeError:
        raise ConfigError(SYNTAX, "the file is not UTF-8", place=Place(path), advice="save it as UTF-8") from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = Place(path, mark.line + 1, mark.column + 1) if mark else Place(path)
        raise ConfigError(SYNTAX, f"not well-formed YAML: {error.problem}", place=place) from None
    except (yaml.YAMLError, RecursionError) as error:
        reason = str(error).splitlines()[0] if str(error) else "it is nested too deeply"
        raise ConfigError(SYNTAX, f"not well-formed YAML: {reason}", place=Place(path)) from None


def read_yaml(path: str) -> Source:
    """Read a YAML configuration; an empty file says nothing."""
    from yaml.nodes import MappingNode

    collector = _Collector(path)
    root = _compose(path)
    if root is None:
        return collector.source
    if not isinstance(root, MappingNode):
        raise ConfigError(
            MAPPING,
            "the file is not a mapping",
            place=_place(path, root),
            advice=f"write sections with keys below them: {', '.join(SECTIONS)}",
        )
    for section, key_node, node in _entries(path, root):
        collector.section(section, _place(path, key_node))
        if isinstance(node, MappingNode):
            for name, name_node, value in _entries(path, node):
                place = _place(path, name_node)
                origin, where = f"{path}:{place.line}", _place(path, value)
                nested = _yaml_kernels(path, value) if (section, name) == ("kernel", NESTED) else None
                given = Given(_yaml_raw(path, value) if nested is None else None, origin, where, nested)
                collector.value(section, name, given)
        elif _yaml_raw(path, node) is not None:
            advice = f"write {section}: {{{_names(section)[0]}: ...}}"
            message = f"the section {section!r} is not a mapping"
            raise ConfigError(MAPPING, message, place=_place(path, node), advice=advice)
    return collector.source


def _toml_text(place: Place, value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (str, int, float)):
        return str(value)
    raise ConfigError(TYPE, f"a {type(value).__name__} is not a single value", place=place)


def _toml_kernels(place: Place, kernels: list[object]) -> list[object]:
    """Return the kernels of a list, each a name or a table."""
    found: list[object] = []
    for item in kernels:
        if isinstance(item, dict):
            members: dict[str, object] = {}
            for name, value in item.items():
                nested = name == NESTED and isinstance(value, list)
                members[name] = _toml_kernels(place, value) if nested else _toml_text(place, value)
            found.append(members)
        else:
            found.append(_toml_text(place, item))
    return found


def read_pyproject(path: str) -> Source:
    """Read ``[tool.sepcert]`` of a `pyproject.toml`; a file that does not exist or has no such table says nothing."""
    collector = _Collector(path)
    if not Path(path).is_file() or b"sepcert" not in (content := _read(path)):
        return collector.source
    import tomllib

    place = Place(path)
    try:
        tool = tomllib.loads(content.decode()).get("tool", {})
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ConfigError(SYNTAX, f"not well-formed TOML: {error}", place=place) from None
    table = tool.get("sepcert", {}) if isinstance(tool, dict) else {}
    if not isinstance(table, dict):
        raise ConfigError(MAPPING, "tool.sepcert is not a table", place=place)
    for section, entries in table.items():
        collector.section(section, place)
        if not isinstance(entries, dict):
            raise ConfigError(MAPPING, f"the section {section!r} is not a table", place=place)
        for name, value in entries.items():
            origin = f"{path} [tool.sepcert.{section}]"
            if (section, name) == ("kernel", NESTED) and isinstance(value, list):
                collector.value(section, name, Given(None, origin, place, _toml_kernels(place, value)))
                continue
            raw = tuple(_toml_text(place, v) for v in value) if isinstance(value, list) else _toml_text(place, value)
            collector.value(section, name, Given(raw, origin, place))
    return collector.source


def read_environment(environment: Mapping[str, str]) -> dict[Key, Given]:
    """Read the ``SEPCERT_*`` variables, those of kernel parameters aside.

    Lists are separated by commas; an empty value means that it is not set.
    """
    known = {setting.variable: setting for setting in SETTINGS}
    kernel_parameters = {f"SEPCERT_{name.upper()}" for name in parameter_names()}
    found: dict[Key, Given] = {}
    for name in sorted(environment):
        if not name.startswith("SEPCERT_") or name == CONFIG_VARIABLE:
            continue
        if name in kernel_parameters:
            continue
        if name not in known:
            names = [*known, *kernel_parameters, CONFIG_VARIABLE]
            raise ConfigError(KEY, f"there is no variable {name}", advice=nearest(name, names))
        setting, written = known[name], environment[name]
        if written:
            raw = tuple(part.strip() for part in written.split(",")) if setting.several else written
            found[setting.section, setting.name] = Given(raw, name)
    return found


def parse(setting: Setting, given: Given) -> object:
    """Return the value of a setting from what was written.

    Raises
    ------
    ConfigError
        A list where one value is meant or the reverse, or a text that the setting's parser refuses.
    """
    label = setting.key if given.place is not None else given.origin
    if given.raw is None:
        return setting.default
    if setting.several != isinstance(given.raw, tuple):
        wanted = "a list" if setting.several else "one value, not a list"
        advice = f"write {setting.name}: [{given.raw}]" if setting.several else ""
        raise ConfigError(TYPE, f"{label} takes {wanted}", place=given.place, advice=advice)
    if isinstance(given.raw, tuple):
        return tuple(_parse_one(setting.parse, item, label, given) for item in given.raw)
    return _parse_one(setting.parse, given.raw, label, given)


def _parse_one(parser: Callable[[str], object], written: str, label: str, given: Given) -> object:
    try:
        return parser(written)
    except ValueError as error:
        raise ConfigError(VALUE, f"{label}: {written!r} {error}", place=given.place) from None
