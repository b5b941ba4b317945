"""Start, stop and describe one instance of the sandbox."""

import fcntl
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from sandbox import paths
from sandbox.airflow.airflow_api import AirflowApi
from sandbox.airflow.airflow_server import USER as AIRFLOW_USER
from sandbox.airflow.airflow_server import airflow_secrets
from sandbox.cluster import Cluster, describe_cluster
from sandbox.configuration import CLUSTERS, LOOPBACK, NORTH
from sandbox.connections import instance_environment
from sandbox.errors import SandboxError
from sandbox.fleet import DEFAULT_SERVERS, GROUPS, build_servers, postgres_server
from sandbox.hadoop.dfsadmin import dfsadmin
from sandbox.hadoop.yarn import job_properties, yarn_classes
from sandbox.jvm.jars import ensure_jars, jar_directory, jar_files
from sandbox.layout import InstanceRecord, Layout
from sandbox.port_choice import choose_ports, intended_record
from sandbox.ports import PortBlock
from sandbox.running import processes
from sandbox.running.starting import run_in_order, start_server, with_dependencies
from sandbox.running.status import ServerStatus, all_statuses
from sandbox.server import Server
from sandbox.spark_servers import bare_python


class Sandbox:
    """Be one instance: two clusters, their database server, and what else is asked for."""

    def __init__(self, name: str, state: Path, cache: Path) -> None:
        self.name = name
        self._state = state
        self._cache = cache
        self._layout = Layout(state / paths.instance_key(name))

    @classmethod
    def open(cls, name: str | None = None) -> "Sandbox":
        """Return the instance called `name`, without starting or writing anything."""
        return cls(name or paths.default_name(), paths.state_root(), paths.cache_root())

    @property
    def root(self) -> Path:
        """Return the directory that holds everything this instance stores."""
        return self._layout.root

    @property
    def layout(self) -> Layout:
        """Return the places below `root`."""
        return self._layout

    @property
    def jar_directory(self) -> Path:
        """Return the directory of the servers' jars."""
        return jar_directory(self._cache)

    @property
    def jars(self) -> list[Path]:
        """Return the servers' jars in class path order; Spark's Hive client uses them too."""
        return jar_files(self._cache)

    def ensured_jars(self) -> list[Path]:
        """Return the servers' jars, downloaded if they were not."""
        return ensure_jars(self._cache)

    @property
    def yarn_classes(self) -> Path:
        """Return the class path of YARN and its clients; `yarn-nodemanager` downloads what it stands for."""
        return yarn_classes(self._cache)

    @property
    def job_properties(self) -> dict[str, str]:
        """Return what a Hadoop client must know besides a cluster's properties to run jobs on YARN."""
        return job_properties(self._layout, PortBlock(self._record.port_base), self._cache)

    @property
    def clusters(self) -> dict[str, Cluster]:
        """Describe both clusters."""
        block = PortBlock(self._record.port_base)
        return {name: describe_cluster(name, block, self._layout) for name in CLUSTERS}

    @property
    def north(self) -> Cluster:
        """Describe the file system without a metastore of its own; what is asked of its metastore, `east` answers."""
        return describe_cluster(NORTH, PortBlock(self._record.port_base), self._layout)

    @property
    def servers(self) -> dict[str, Server]:
        """Return all servers by name, running or not."""
        return build_servers(self._layout, self._record, self._state, self._cache)

    def dfsadmin(self, cluster: str, *arguments: str) -> str:
        """Run `hdfs dfsadmin` with these arguments on a cluster, and return what it prints."""
        return dfsadmin(self.clusters[cluster], self.jars, arguments)

    def postgres_url(self, database: str) -> str:
        """Return the SQLAlchemy address of one of the databases."""
        return postgres_server(self._layout, self._record, self._state, []).database(database).sqlalchemy_url

    def environment(self) -> dict[str, str]:
        """Return the connections as environment variables."""
        return instance_environment(self._layout, PortBlock(self._record.port_base))

    @property
    def airflow(self) -> AirflowApi:
        """Return the administrator's access to Airflow."""
        url = f"http://{LOOPBACK}:{PortBlock(self._record.port_base).airflow}"
        return AirflowApi(url, AIRFLOW_USER, airflow_secrets(self._layout).password)

    @property
    def spark_master_url(self) -> str:
        """Return the address of Spark's standalone cluster."""
        return f"spark://{LOOPBACK}:{PortBlock(self._record.port_base).spark_master}"

    @property
    def bare_python(self) -> Path:
        """Return the interpreter without packages that executors should use; `spark-worker` creates it."""
        return bare_python(self._layout)

    def up(self, *names: str) -> None:
        """Start both clusters, and the servers (or `north`) named besides; those that run already stay as they are."""
        with self._locked():
            ensure_jars(self._cache)
            asked = [server for name in names for server in GROUPS.get(name, (name,))]
            wanted = with_dependencies([*DEFAULT_SERVERS, *map(self._known, asked)], self.servers)
            wanted = self._settle_ports(wanted, may_move=True)
            run_in_order(wanted, self.servers, partial(start_server, layout=self._layout))

    def start(
        self,
        name: str,
        overrides: Mapping[str, str] | None = None,
        environment: Mapping[str, str | None] | None = None,
    ) -> None:
        """Start one server; `overrides` are merged into its configuration for this start only.

        So is `environment` into its variables; those that are None are taken away.
        """
        with self._locked():
            ensure_jars(self._cache)
            self._settle_ports([self._known(name)], may_move=False)
            start_server(self.servers[name], self._layout, overrides, environment)

    def stop(self, name: str) -> None:
        """End one server in order."""
        with self._locked():
            self._end(self.servers[self._known(name)])

    def kill(self, name: str) -> None:
        """End one server at once, without giving it a chance to finish anything."""
        processes.kill(self._layout.pid_file(self._known(name)))

    def down(self) -> None:
        """End all servers of this instance; what they stored stays."""
        with self._locked():
            self._end_all()

    def reset(self) -> None:
        """End all servers and delete everything they stored."""
        with self._locked():
            self._end_all()
            self._layout.delete()

    def is_running(self, name: str) -> bool:
        """Tell whether a server's process lives."""
        return processes.read_record(self._layout.pid_file(self._known(name))) is not None

    def status(self) -> list[ServerStatus]:
        """Look at every server."""
        return all_statuses(self.servers, self._layout)

    @property
    def _record(self) -> InstanceRecord:
        return intended_record(self.name, self._layout)

    def _known(self, name: str) -> str:
        if name not in self.servers:
            raise SandboxError(f"there is no server {name!r}; the servers are: {', '.join(self.servers)}")
        return name

    def _settle_ports(self, wanted: list[str], *, may_move: bool) -> list[str]:
        """Make sure that the wanted servers have free ports, and return which servers to start."""
        servers = self.servers
        running = [name for name in servers if self.is_running(name)]
        idle = [servers[name] for name in wanted if name not in running]
        for server in idle:
            # What a crashed server left behind is not a foreign program.
            processes.kill(self._layout.pid_file(server.name))
        needed = [port for server in idle for port in server.ports.values()]
        record = choose_ports(self._record, needed, may_move)
        if running and record.port_base != self._record.port_base:
            # All must follow, because each knows the ports of the rest.
            self._end_all()
            wanted = with_dependencies([*running, *wanted], servers)
        self._layout.write_record(record)
        for cluster in (*self.clusters.values(), self.north):
            cluster.write_configuration()
        return wanted

    def _end(self, server: Server) -> None:
        processes.end(self._layout.pid_file(server.name), server.stop_signal, server.stop_seconds)

    def _end_all(self) -> None:
        if not self._layout.root.exists():
            return
        servers = self.servers
        needed = {name for server in servers.values() for name in server.depends_on}
        # What others depend on goes last.
        for layer in (servers.keys() - needed, needed):
            with ThreadPoolExecutor(max_workers=len(layer)) as pool:
                list(pool.map(self._end, [servers[name] for name in layer]))

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Keep other processes from changing this instance meanwhile."""
        self._state.mkdir(parents=True, exist_ok=True)
        with (self._state / f".{self._layout.root.name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
