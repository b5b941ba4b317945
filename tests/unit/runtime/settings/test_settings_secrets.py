"""What is wrong with a file is said without what may be secret in it."""

from pathlib import Path

import pytest

from twinhive.runtime.settings import load_clusters

SECRET = "AKIA-0123"


@pytest.mark.parametrize(
    "file_system",
    [
        {"uri": "hdfs://east", "hadoop": {"fs.s3a.secret.key": [SECRET]}},
        {"uri": "hdfs://east", "hadoop": SECRET},
        {"uri": {"fs.s3a.secret.key": SECRET}},
        {"user": "hive", "hadoop": {"fs.s3a.secret.key": SECRET}},
    ],
)
def test_a_property_is_not_shown(tmp_path: Path, file_system: dict[str, object]) -> None:
    rest = {"metastore": {"connection": "m"}, "job_tracker": {"connection": "s"}}
    (tmp_path / "clusters.yaml").write_text(str({"clusters": {"east": {**rest, "file_system": file_system}}}))
    _, error = load_clusters(tmp_path / "clusters.yaml")
    assert error is not None and "file_system" in error
    assert SECRET not in error
