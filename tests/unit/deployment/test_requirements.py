"""What is installed is what was resolved: pinned, and with the hashes of its files."""

import re
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[3]
FILES = sorted(path.name for path in CHECKOUT.glob("requirements-*.txt"))
_INSTALLS = re.compile(r"(?:(?<!-m )pip install|\$\(INSTALL\)) .*?(?=&&|\n|$)")


def pins(file: str) -> dict[str, str]:
    """Return the text below each pin of a file."""
    text = (CHECKOUT / file).read_text()
    blocks = re.split(r"^(?=[\w.-]+==)", text, flags=re.MULTILINE)[1:]
    return {block.partition("==")[0].lower(): block for block in blocks}


def test_there_is_a_file_of_pins_for_each_file_of_requests() -> None:
    assert FILES == ["requirements-build.txt", "requirements-runtime.txt", "requirements-test.txt"]
    assert [name.replace(".txt", ".in") for name in FILES] == sorted(path.name for path in CHECKOUT.glob("*.in"))


def test_one_file_names_all_that_is_needed_to_run_and_to_test() -> None:
    named = re.findall(r"^-r (.*)$", (CHECKOUT / "requirements.txt").read_text(), re.MULTILINE)
    assert named == ["requirements-runtime.txt", "requirements-test.txt"]


@pytest.mark.parametrize("file", FILES)
def test_each_pin_has_the_hashes_of_its_files(file: str) -> None:
    assert {name for name, block in pins(file).items() if not re.search(r"--hash=sha256:[0-9a-f]{64}", block)} == set()


@pytest.mark.parametrize("file", FILES)
def test_each_request_is_pinned(file: str) -> None:
    requests = (CHECKOUT / file.replace(".txt", ".in")).read_text().splitlines()
    names = {re.split(r"[\[=<>]", request)[0].lower() for request in requests if not request.startswith("-")}
    assert names - set(pins(file)) == set()


def test_what_two_files_pin_has_one_version() -> None:
    versions: dict[str, set[str]] = {}
    for file in FILES:
        for name, block in pins(file).items():
            versions.setdefault(name, set()).add(block.split()[0])
    assert {name: found for name, found in versions.items() if len(found) > 1} == {}


@pytest.mark.parametrize("file", ["Makefile", "deploy/Dockerfile"])
def test_nothing_is_installed_without_its_hash_not_even_what_builds(file: str) -> None:
    installs = _INSTALLS.findall((CHECKOUT / file).read_text().replace("\\\n", " "))
    from_files = [line for line in installs if ".txt" in line]
    assert len(from_files) == 2 and all("--require-hashes" in line for line in from_files)
    assert all("--no-build-isolation" in line for line in installs if "requirements-build.txt" not in line)
