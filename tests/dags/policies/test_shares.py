"""Several DAG files share the policies out: each policy is in exactly one, and what is nobody's in the first."""

from collections import Counter
from pathlib import Path

import pytest

from tests.dags.airflow_home import CHECKOUT, use_own_airflow
from tests.support.policies import PolicyFiles
from twinhive.surfaces.airflow.dag_factory import replication_dags
from twinhive.surfaces.airflow.dags.dag_file_shares import is_in

NAMES = [f"db{number}" for number in range(24)]
FILE = """
import os
from pathlib import Path
from twinhive.surfaces.airflow.dag_factory import replication_dags

_here = Path(__file__).resolve().parent
globals().update(replication_dags(Path(os.environ["TWINHIVE_CONFIG"]), Path({project!r}), share=({number}, {of})))
"""


@pytest.fixture
def config(policies: PolicyFiles) -> Path:
    for name in NAMES:
        policies.add(name)
    # One that cannot be used is red in one file, too.
    policies.write("policies/odd.yaml", {"policy": "odd", "colour": 1})
    return policies.directory


@pytest.mark.parametrize("of", [1, 2, 4, 7])
def test_over_all_shares_every_dag_is_made_exactly_once(config: Path, of: int) -> None:
    shares = [replication_dags(config, CHECKOUT, share=(number, of)) for number in range(1, of + 1)]
    made = Counter(dag_id for dags in shares for dag_id in dags)
    assert set(made) == set(replication_dags(config, CHECKOUT)) and set(made.values()) == {1}
    assert {dag_id for dag_id in made if dag_id.startswith("twinhive.")} <= set(shares[0])
    policies = [{dag_id.partition(".")[0] for dag_id in dags} - {"twinhive"} for dags in shares]
    assert sum(len(some) for some in policies) == len(NAMES) + 1


def test_a_policys_share_depends_on_its_name_alone_in_every_process() -> None:
    # Written down: another order of hashing would move DAGs between files while several versions run.
    assert [number for number in range(1, 5) if is_in((number, 4), "sales")] == [2]
    of_four = Counter(next(n for n in range(1, 5) if is_in((n, 4), f"db{number}")) for number in range(1_000))
    assert min(of_four.values()) > 200


def test_idle_runs_are_shared_by_all_policies_and_not_by_those_of_a_file(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TWINHIVE_IDLE_RUNS_PER_MINUTE", "1")
    whole = replication_dags(config, CHECKOUT)
    for number in (1, 2):
        for dag_id, dag in replication_dags(config, CHECKOUT, share=(number, 2)).items():
            assert str(dag.schedule) == str(whole[dag_id].schedule) or dag.schedule == whole[dag_id].schedule


@pytest.mark.parametrize("share", [(0, 4), (5, 4), (1, 0), (-1, -1)])
def test_what_is_no_share_is_an_import_error_and_not_a_file_without_dags(config: Path, share: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="share="):
        replication_dags(config, CHECKOUT, share=share)


def test_airflow_parses_the_files_and_a_task_builds_its_own_dag_alone(
    config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_own_airflow()
    from airflow.dag_processing.dagbag import DagBag

    monkeypatch.setenv("TWINHIVE_CONFIG", str(config))
    files = []
    for number in (1, 2, 3):
        files.append(tmp_path / "dags" / f"replication_{number}.py")
        files[-1].parent.mkdir(exist_ok=True)
        files[-1].write_text(FILE.format(project=str(CHECKOUT), number=number, of=3))
    bag = DagBag(str(tmp_path / "dags"))
    assert bag.import_errors == {} and set(bag.dags) == set(replication_dags(config, CHECKOUT))
    assert {Path(dag.fileloc) for dag in bag.dags.values()} == set(files)
    monkeypatch.setenv("_AIRFLOW_PARSING_CONTEXT_DAG_ID", "db7.bootstrap")
    made = [sorted(replication_dags(config, CHECKOUT, share=(number, 3))) for number in (1, 2, 3)]
    assert sorted(made) == [[], [], ["db7.bootstrap"]]
