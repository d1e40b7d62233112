"""The table of imports, the sizes, and what the library must not do."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "sepcert"
FILES = sorted(PACKAGE.rglob("*.py"))

BASE = {"errors", "status", "_version"}
STATEMENT = {"problem", "kernels", "manifolds"} | BASE
MATTER = {"data", "certificate"} | STATEMENT
TRUSTED = {"verify"} | MATTER
SOLVING = {"engine", "exact"} | TRUSTED
ANSWERING = {"check_options", "search", "proof", "kernel_proof", "findings", "result"}
MAY_IMPORT = {
    "errors": BASE,
    "status": BASE,
    "_version": set(),
    "kernels": STATEMENT,
    "problem": STATEMENT,
    "manifolds": STATEMENT,
    "data": MATTER,
    "certificate": MATTER,
    "verify": TRUSTED,
    "exact": SOLVING,
    "engine": SOLVING,
    "findings": SOLVING,
    "result": {"findings"} | SOLVING,
    "check_options": {"kernels"} | BASE,
    "search": {"search"} | SOLVING,
    "proof": {"check_options", "search"} | SOLVING,
    "kernel_proof": {"check_options", "search", "proof"} | SOLVING,
    "certify": ANSWERING | SOLVING,
    "workflows": {"workflows", "certify"} | ANSWERING | SOLVING,
    "report": {"report"} | BASE,
    "config": {"config", "kernels"} | BASE,
    "cli": {"cli", "config", "certify", "workflows", "report"} | ANSWERING | SOLVING,
    "__init__": {"certify", "workflows"} | ANSWERING | SOLVING,
    "__main__": {"cli", "_version"},
}


def part_of(path):
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported(tree):
    """Yield (full module name, whether the import runs when the module is imported)."""
    inside = {id(n) for f in ast.walk(tree) if isinstance(f, (ast.FunctionDef, ast.Lambda)) for n in ast.walk(f)}
    guarded = [n for n in ast.walk(tree) if isinstance(n, ast.If) and "TYPE_CHECKING" in ast.dump(n.test)]
    inside |= {id(n) for g in guarded for n in ast.walk(g)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, id(node) not in inside) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            names = [f"{node.module}.{a.name}" for a in node.names] if node.module == "sepcert" else [node.module]
            yield from ((name, id(node) not in inside) for name in names)


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_go_downwards(path):
    part = part_of(path)
    for module, at_import in imported(ast.parse(path.read_text())):
        top, *rest = module.split(".")
        if top == "sepcert":
            assert not rest or rest[0] in MAY_IMPORT[part], f"{part} imports {module}"
        if top in {"typer", "rich"}:
            assert part == "cli", f"only cli may import {top}"
        if top in {"scipy", "yaml", "rich"}:
            assert not at_import, f"{module} is imported late, inside the function that needs it"
        if top == "scipy":
            assert part not in {"verify", "data", "certificate", "config", "cli"}


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_sizes_and_bans(path):
    text = path.read_text()
    assert text.count("\n") < 400
    for node in ast.walk(ast.parse(text)):
        assert not isinstance(node, ast.Assert), f"line {node.lineno}: assert vanishes under python -O"
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id not in {"print", "breakpoint", "eval", "exec"}, f"line {node.lineno}: {node.func.id}"
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            body = node.body[1:] if ast.get_docstring(node) else node.body
            lines = body[-1].end_lineno - body[0].lineno + 1 if body else 0
            assert lines < 60, f"{node.name} has {lines} lines"


def loaded_after(statement):
    code = f"import sys\n{statement}\nsys.stderr.write(' '.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    return set(done.stderr.split())


def test_the_version_needs_neither_numpy_nor_typer():
    loaded = loaded_after("from sepcert.__main__ import main; main(['--version'])")
    assert not loaded & {"numpy", "typer", "rich", "yaml", "flint", "scipy"}


def test_a_small_check_needs_no_scipy_rich_or_yaml():
    sample = ROOT / "sample_data" / "xor.csv"
    loaded = loaded_after(f"from sepcert.__main__ import main; main(['check', {str(sample)!r}])")
    assert "sepcert.certify" in loaded
    assert not {name.split(".")[0] for name in loaded} & {"scipy", "rich", "yaml"}


def test_the_verifier_runs_without_the_engine():
    loaded = loaded_after("import sepcert.verify.api")
    assert not {
        name for name in loaded if name.startswith(("sepcert.engine", "sepcert.exact", "sepcert.certify", "scipy"))
    }
