"""A consumer of west's replica, as somebody else would write it: it runs once for each set of flights that is there."""

from airflow.providers.apache.hive.sensors.named_hive_partition import NamedHivePartitionSensor
from airflow.sdk import DAG, Asset, PartitionedAssetTimetable, task

FLIGHTS = Asset("twinhive-set://west/flights/flights")
MARK = "flights.twinhive_sets/table_name=flights/spec={{ partition_key.replace('=', '%3D').replace('/', '%2F') }}"

with DAG("flights_of_a_day", schedule=PartitionedAssetTimetable(assets=FLIGHTS), is_paused_upon_creation=False):
    # Nothing of Twinhive is needed to look: a mark is a partition, which Airflow's own sensor finds.
    marked = NamedHivePartitionSensor(
        task_id="marked", partition_names=[MARK], metastore_conn_id="west_metastore", poke_interval=5, timeout=300
    )

    @task
    def report(partition_key: str | None = None) -> str | None:
        print(f"flights of {partition_key} are complete on west")
        return partition_key

    marked >> report()
