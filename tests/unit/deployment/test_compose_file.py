"""docker-compose.yml: valid, whole, and closed to other machines."""

import json
import re
from pathlib import Path

import jsonschema
import pytest

from tests.support.compose_file import CHECKOUT, example_variables, named_variables, raw_compose, services

# The Compose Specification's own schema, Apache License 2.0: github.com/compose-spec/compose-go 2.9.1.
SCHEMA = json.loads(Path(__file__).with_name("compose-spec.json").read_text())
SERVICES = sorted(services())


def test_it_is_what_the_compose_specification_allows():
    jsonschema.Draft7Validator(SCHEMA).validate(raw_compose())


def test_the_schema_refuses_an_unknown_key():
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft7Validator(SCHEMA).validate({"services": {"a": {"image": "b", "depend_on": {}}}})


@pytest.mark.parametrize("name", SERVICES)
def test_what_a_service_waits_for_can_happen(name: str):
    for needed, how in services()[name].get("depends_on", {}).items():
        if how["condition"] == "service_healthy":
            assert "healthcheck" in services()[needed], f"{name} waits for the health of {needed}"
        else:
            assert how["condition"] == "service_completed_successfully"
            assert services()[needed]["restart"] == "no", f"{name} waits for the end of {needed}"


def test_no_service_waits_for_itself():
    done: set[str] = set()
    while waiting := [name for name in SERVICES if name not in done]:
        ready = [name for name in waiting if services()[name].get("depends_on", {}).keys() <= done]
        assert ready, f"they wait for each other: {waiting}"
        done |= set(ready)


@pytest.mark.parametrize("name", SERVICES)
def test_whatever_goes_on_running_says_how_it_is(name: str):
    service = services()[name]
    assert ("healthcheck" in service) == (service["restart"] != "no")


def test_every_variable_is_in_the_example_and_none_is_left_over():
    assert named_variables() == example_variables().keys()


def test_every_named_volume_is_declared_and_none_is_left_over():
    sources = {volume.split(":")[0] for service in services().values() for volume in service.get("volumes", [])}
    assert {source for source in sources if not source.startswith(".")} == raw_compose()["volumes"].keys()


def test_every_mounted_path_and_file_exists():
    files = [volume.split(":")[0] for service in services().values() for volume in service.get("volumes", [])]
    files = [file for file in files if file.startswith(".")]
    files += [service["env_file"] for service in services().values() if "env_file" in service]
    assert files
    assert [file for file in files if not (CHECKOUT / file).exists()] == []


def test_configuration_is_mounted_to_be_read_only():
    mounts = [volume for service in services().values() for volume in service.get("volumes", []) if volume[0] == "."]
    assert all(mount.endswith(":ro") for mount in mounts)


def test_ports_are_published_to_this_machine_only_and_differ():
    published = [port for service in services().values() for port in service.get("ports", [])]
    assert published
    one_or_some = r"(\d+)(?:-(\d+))?"
    found = [re.fullmatch(rf"127\.0\.0\.1:{one_or_some}:{one_or_some}", port) for port in published]
    assert all(found), published
    outside = [number for one in found if one for number in range(int(one[1]), int(one[2] or one[1]) + 1)]
    assert len(set(outside)) == len(outside)


@pytest.mark.parametrize("name", SERVICES)
def test_an_image_is_built_here_or_pinned_by_its_version(name: str):
    service = services()[name]
    assert "build" in service or re.search(r":\d+\.\d+", service["image"])
    if "build" in service:
        assert (CHECKOUT / service["build"]["dockerfile"]).exists()


def test_nothing_runs_with_more_rights_than_usual():
    for service in services().values():
        assert not service.keys() & {"privileged", "cap_add", "network_mode", "pid", "user", "devices"}
