"""Importing costs little, and every public name is where it should be."""

from __future__ import annotations

import subprocess
import sys

import pytest

import ldiversity as ld

HEAVY = ("numba", "matplotlib", "pandas", "polars", "scipy", "pyspark", "pydantic", "pyarrow", "numpy", "cryptography")


def modules_after(code: str) -> set[str]:
    program = f"{code}\nimport sys\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    return set(done.stdout.split())


def loaded_after(code: str) -> set[str]:
    return {module.split(".")[0] for module in modules_after(code)}


@pytest.mark.parametrize("package", HEAVY)
def test_importing_the_package_loads_nothing_heavy(package: str) -> None:
    assert package not in loaded_after("import ldiversity")


@pytest.mark.parametrize("package", ["numba", "scipy", "pandas", "polars", "matplotlib"])
def test_reading_a_release_description_loads_no_compiler_and_no_frames(package: str) -> None:
    assert package not in loaded_after("import ldiversity; ldiversity.load_release")


@pytest.mark.parametrize("name", ["estimate", "audit", "anonymize"])
def test_parquet_and_its_file_systems_are_loaded_where_a_file_is_opened(name: str) -> None:
    assert not {"pyarrow.parquet", "pyarrow.fs"} & modules_after(f"import ldiversity; ldiversity.{name}")


@pytest.mark.parametrize("name", ld.__all__)
def test_every_public_name_exists_and_is_documented(name: str) -> None:
    assert name == "__version__" or getattr(ld, name).__doc__


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nonsense"):
        ld.nonsense  # noqa: B018


def test_functions_are_not_shadowed_by_rooms() -> None:
    code = (
        "import ldiversity as ld\n"
        "import ldiversity.publish, ldiversity.estimation, ldiversity.release\n"
        "assert callable(ld.anonymize) and callable(ld.estimate) and callable(ld.describe) and callable(ld.plan)"
    )

    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_engine_of_spark_needs_pyspark_when_it_is_made_and_no_sooner(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "pyspark" not in loaded_after("import ldiversity; ldiversity.SparkEngine")
    for name in ("pyspark", "pyspark.sql"):
        monkeypatch.setitem(sys.modules, name, None)

    with pytest.raises(ld.UnsupportedError, match="the optional package pyspark must be installed") as caught:
        ld.SparkEngine()

    assert "pip install 'ldiversity[spark]'" in str(caught.value)
