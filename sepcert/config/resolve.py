"""Merging the sources: flag > ``SEPCERT_*`` > file > default, and showing what came out."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any

from sepcert.config.settings import (
    SECTIONS,
    SETTINGS,
    DataSettings,
    EngineSettings,
    GateSettings,
    KernelSettings,
    OutputSettings,
)
from sepcert.config.sources import (
    CONFIG_VARIABLE,
    KEY,
    Given,
    Key,
    Source,
    nearest,
    parse,
    read_environment,
    read_pyproject,
    read_yaml,
)
from sepcert.errors import ConfigError, KernelError, register
from sepcert.kernels import accepted_parameters, check_parameters, parameter_names, require_built

CONFLICT = register("CONFIG-CONFLICT", "Two settings exclude each other.")


@dataclass(frozen=True)
class Configuration:
    """The settings of a run.

    Attributes
    ----------
    kernel, data, engine, gate, output
        One object a section.
    kernel_parameters : dict
        The kernel's own parameters as written; each is one that the kernel takes.  Those of sums and products hold a
        list of mappings, one a member.
    origins : dict
        For each key that some source gave, which.
    """

    kernel: KernelSettings
    data: DataSettings
    engine: EngineSettings
    gate: GateSettings
    output: OutputSettings
    kernel_parameters: dict[str, object]
    origins: dict[Key, str]


def resolve(
    flags: Mapping[str, object],
    environment: Mapping[str, str],
    config_file: str | None = None,
    pyproject: str = "pyproject.toml",
) -> Configuration:
    """Merge all sources.

    Parameters
    ----------
    flags : mapping
        Option name (``bias_scale``) to a text, a truth value, or a sequence of texts; None means not given.
    environment : mapping
        Variables; those beginning with ``SEPCERT_`` are looked at.
    config_file : str, optional
        A YAML file; without it the variable ``SEPCERT_CONFIG``, and without that `pyproject`.
    pyproject : str
        Path of the project file whose ``[tool.sepcert]`` counts where no YAML file is given.

    Raises
    ------
    ConfigError
        Unknown key or variable, wrong type, bad value, unreadable or malformed file.
    KernelError
        A kernel that is not built.
    """
    chosen = config_file or environment.get(CONFIG_VARIABLE) or None
    source = read_yaml(chosen) if chosen else read_pyproject(pyproject)
    given: dict[Key, Given] = {**source.settings, **read_environment(environment), **_from_flags(flags)}
    sections: dict[str, dict[str, Any]] = {section: {} for section in SECTIONS}
    for setting in SETTINGS:
        key = (setting.section, setting.name)
        if key in given:
            sections[setting.section][setting.name] = parse(setting, given[key])
    kernel = KernelSettings(**sections["kernel"])
    if not kernel.bias and kernel.bias_scale != 1:
        _refuse_scale_without_bias(given)
    parameters, origins = _kernel_parameters(kernel.name, source, environment, flags)
    return Configuration(
        kernel=kernel,
        data=DataSettings(**sections["data"]),
        engine=EngineSettings(**sections["engine"]),
        gate=GateSettings(**sections["gate"]),
        output=OutputSettings(**sections["output"]),
        kernel_parameters=parameters,
        origins={**{key: one.origin for key, one in given.items() if one.raw is not None}, **origins},
    )


def resolve_one(option: str, flag: object, environment: Mapping[str, str]) -> Any:
    """Return one setting from its flag, else its variable, else its default; files are not looked at.

    Parameters
    ----------
    option : str
        Name of the option, such as ``seed``.
    flag : object
        The text of the flag; None where it was not given.
    environment : mapping

    Raises
    ------
    ConfigError
        Unknown variable or bad value.
    """
    given = {**read_environment(environment), **_from_flags({option: flag})}
    setting = next(one for one in SETTINGS if one.option == option)
    key = (setting.section, setting.name)
    return parse(setting, given[key]) if key in given else setting.default


def _refuse_scale_without_bias(given: Mapping[Key, Given]) -> None:
    scale, bias = given["kernel", "bias_scale"], given["kernel", "bias"]
    raise ConfigError(
        CONFLICT,
        f"a bias scale ({scale.origin}) is given, but there is no bias ({bias.origin})",
        place=scale.place or bias.place,
        advice="leave one of the two out",
    )


def _from_flags(flags: Mapping[str, object]) -> dict[Key, Given]:
    found: dict[Key, Given] = {}
    for setting in SETTINGS:
        value = flags.get(setting.option)
        if value is None or (setting.several and not value):
            continue
        if isinstance(value, bool):
            origin = setting.flag if value else "--no-" + setting.flag[2:]
            found[setting.section, setting.name] = Given("true" if value else "false", origin)
        elif isinstance(value, Sequence) and not isinstance(value, str):
            found[setting.section, setting.name] = Given(tuple(str(v) for v in value), setting.flag)
        else:
            found[setting.section, setting.name] = Given(str(value), setting.flag)
    return found


def _kernel_parameters(
    name: str, source: Source, environment: Mapping[str, str], flags: Mapping[str, object]
) -> tuple[dict[str, object], dict[Key, str]]:
    """Return the parameters of the kernel and their origins, a flag before a variable before the file."""
    require_built(name)
    given = dict(source.kernel_parameters)
    for parameter in parameter_names():
        variable = environment.get(f"SEPCERT_{parameter.upper()}")
        if variable:
            given[parameter] = Given(variable, f"SEPCERT_{parameter.upper()}")
        if flags.get(parameter) is not None:
            given[parameter] = Given(str(flags[parameter]), "--" + parameter.replace("_", "-"))
    accepted = accepted_parameters(name)
    found: dict[str, object] = {}
    for parameter, one in given.items():
        if parameter not in accepted:
            known = [*(setting.name for setting in SETTINGS if setting.section == "kernel"), *accepted]
            written = "" if one.place else f" ({one.origin})"
            message = f"the {name} kernel takes no parameter {parameter!r}{written}"
            raise ConfigError(KEY, message, place=one.place, advice=nearest(parameter, known))
        if one.nested is not None or one.raw is not None:
            found[parameter] = one.raw if one.nested is None else one.nested
    try:
        check_parameters(name, found)
    except KernelError as error:
        places = [one.place for parameter, one in given.items() if error.message.startswith(f"{parameter} of ")]
        place = error.place or next(iter(places), None)
        raise KernelError(error.code, error.message, place=place, advice=error.advice) from None
    return found, {("kernel", parameter): given[parameter].origin for parameter in found}


def _written(value: object) -> str:
    if isinstance(value, StrEnum):
        return str(value)
    if isinstance(value, Fraction):
        return str(value.numerator) if value.denominator == 1 else json.dumps(str(value))
    return json.dumps(value, ensure_ascii=False)


def show(configuration: Configuration) -> str:
    """Return the effective configuration as YAML; a comment tells the origin of each value."""
    lines: list[str] = []
    section = ""
    for setting in SETTINGS:
        if setting.section != section:
            section = setting.section
            lines.append(f"{section}:")
        value = getattr(getattr(configuration, section), setting.name)
        origin = configuration.origins.get((section, setting.name), "default")
        lines.append(f"  {f'{setting.name}: {_written(value)}':<36}  # {origin}")
        if setting.key == "kernel.bias_scale":
            for name, given in configuration.kernel_parameters.items():
                line = f"{name}: {json.dumps(given, ensure_ascii=False)}"
                lines.append(f"  {line:<36}  # {configuration.origins['kernel', name]}")
    return "\n".join(lines)


def show_as_object(configuration: Configuration) -> dict[str, Any]:
    """Return the effective configuration for JSON: for each section and key its value and origin."""
    shown: dict[str, Any] = {section: {} for section in SECTIONS}
    for setting in SETTINGS:
        value = getattr(getattr(configuration, setting.section), setting.name)
        plain = str(value) if isinstance(value, Fraction) else value
        origin = configuration.origins.get((setting.section, setting.name), "default")
        shown[setting.section][setting.name] = {"value": plain, "origin": origin}
    for name, value in configuration.kernel_parameters.items():
        shown["kernel"][name] = {"value": value, "origin": configuration.origins["kernel", name]}
    return {"schema": "sepcert-configuration/1", **shown}
