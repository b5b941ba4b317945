"""The pinned jars: the list and what Ivy is told."""

import xml.etree.ElementTree as ET
from pathlib import Path

from sandbox.jars import JAR_LIST, class_path_order, ivy_module, parse_jar_list


def test_the_list_is_sorted_and_complete():
    lines = JAR_LIST.read_text().splitlines()
    assert lines == sorted(lines)
    jars = parse_jar_list(JAR_LIST.read_text())
    assert all(len(jar.sha256) == 64 for jar in jars)
    assert len({jar.file_name for jar in jars}) == len(jars)


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
