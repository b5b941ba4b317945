"""What a policy's options come to."""

import pytest

from twinhive.core.model.policy import Options

GB = 2**30


def test_a_limit_of_bytes_is_shared_by_all_spark_tasks_of_a_run() -> None:
    options = Options(bandwidth_mb=80, parallel_copies=4, spark_tasks=2)
    assert options.bytes_per_second == 80_000_000
    assert options.bytes_per_second_of_a_spark_task(2) == 10_000_000


def test_a_job_of_more_tasks_moves_no_more_than_its_share() -> None:
    options = Options(bandwidth_mb=80, parallel_copies=4, spark_tasks=2)
    assert options.bytes_per_second_of_a_spark_task(8) == 2_500_000


def test_without_a_limit_there_is_none_to_share() -> None:
    assert Options().bytes_per_second is None
    assert Options().bytes_per_second_of_a_spark_task(2) is None


@pytest.mark.parametrize(
    ("files", "length", "tasks"),
    [(0, 0, 2), (10, 100 * GB, 2), (10, 130 * GB, 4), (10, 10_000 * GB, 8), (200_000, GB, 4), (10_000_000, 0, 8)],
)
def test_a_batch_that_could_not_be_cut_gets_tasks_by_its_bytes_and_its_files(
    files: int, length: int, tasks: int
) -> None:
    assert Options(spark_tasks=2, large_spark_tasks=8).spark_tasks_for(files, length, 64 * GB) == tasks


def test_no_batch_gets_fewer_tasks_than_others_nor_more_where_nobody_knows_what_was_wanted() -> None:
    assert Options(spark_tasks=20, large_spark_tasks=8).spark_tasks_for(10**7, 10**15, GB) == 20
    assert Options().spark_tasks_for(10**7, 10**15, 0) == 2
