"""The pinned jars: the list and what Ivy is told."""

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from sandbox.jvm.jars import JAR_LIST, YARN_JAR_LIST, class_path_order, ivy_module, jar_directory, parse_jar_list


@pytest.mark.parametrize("jar_list", [JAR_LIST, YARN_JAR_LIST])
def test_a_list_is_sorted_and_complete(jar_list):
    lines = jar_list.read_text().splitlines()
    assert lines == sorted(lines)
    jars = parse_jar_list(jar_list.read_text())
    assert all(len(jar.sha256) == 64 for jar in jars)
    assert len({jar.file_name for jar in jars}) == len(jars)


def test_what_both_lists_name_is_the_same_file():
    pinned = {jar.file_name: jar.sha256 for jar in parse_jar_list(JAR_LIST.read_text())}
    shared = [jar for jar in parse_jar_list(YARN_JAR_LIST.read_text()) if jar.file_name in pinned]
    assert shared
    assert all(jar.sha256 == pinned[jar.file_name] for jar in shared)


def test_yarn_has_one_version_of_hadoop_and_nothing_of_hive():
    jars = parse_jar_list(YARN_JAR_LIST.read_text())
    assert {jar.version for jar in jars if jar.organisation == "org.apache.hadoop"} == {"3.4.3"}
    assert not [jar for jar in jars if jar.organisation.startswith("org.apache.hive")]


def test_each_list_has_a_directory_of_its_own(tmp_path):
    assert jar_directory(tmp_path) != jar_directory(tmp_path, YARN_JAR_LIST)


def test_a_classifier_is_part_of_the_file_name():
    (jar,) = parse_jar_list(f"io.netty:netty:4.1:linux-x86_64 {'0' * 64}")
    assert jar.file_name == "io.netty--netty-4.1-linux-x86_64.jar"


def test_ivy_gets_one_module_with_all_its_classifiers():
    jars = parse_jar_list(f"g:a:1 {'0' * 64}\ng:a:1:linux {'1' * 64}\n")
    root = ET.fromstring(ivy_module(jars))
    (dependency,) = root.iter("dependency")
    assert dependency.get("transitive") == "false"
    assert len(list(dependency.iter("artifact"))) == 2


def test_the_listener_comes_first_on_the_class_path():
    listener = Path("org.apache.hive.hcatalog--listener-4.2.0.jar")
    assert class_path_order([Path("antlr--antlr-2.jar"), listener])[0] == listener
