"""No two public classes of the package have the same name: a name means one thing."""

import re
from collections import Counter

from tests.support.package_texts import MODULES

_CLASS = re.compile(r"^class ([A-Z]\w*)", re.MULTILINE)


def test_each_class_has_a_name_of_its_own() -> None:
    names = Counter(name for path in MODULES for name in _CLASS.findall(path.read_text(encoding="utf-8")))
    assert sorted(name for name, count in names.items() if count > 1) == []
