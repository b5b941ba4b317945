"""What a policy's options come to."""

from twinhive.domain.policy import Options


def test_a_limit_of_bytes_is_shared_by_all_spark_tasks_of_a_run() -> None:
    options = Options(bandwidth_mb=80, parallel_copies=4, spark_tasks=2)
    assert options.bytes_per_second == 80_000_000
    assert options.bytes_per_second_of_a_spark_task == 10_000_000


def test_without_a_limit_there_is_none_to_share() -> None:
    assert Options().bytes_per_second is None
    assert Options().bytes_per_second_of_a_spark_task is None
