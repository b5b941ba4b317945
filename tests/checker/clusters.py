"""Replicate random histories between two real clusters, whose servers and processes are killed meanwhile."""

import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import Any

import yaml

from sandbox import Sandbox
from tests.checker.faults import Fault, Plan
from tests.checker.interleaving import Pausable
from tests.checker.memory_histories import Drill, Settings
from tests.checker.states import Viewer
from tests.support.policies import PolicyFiles
from tests.support.users.source_writer import SourceWriter
from tests.support.users.thrift_source import ThriftSource
from tests.support.worlds.fake_world import Killed
from twinhive.core.model.errors import TryAgain, TwinhiveError
from twinhive.core.model.marks import Phase, ReplicaState
from twinhive.core.model.policy import Policy
from twinhive.core.ports import WritePorts
from twinhive.hive.adapters.hdfs.hadoop_fs import HadoopFiles

# A call that takes longer counts as unanswered; whoever takes a lease over waits as long.
TIMEOUT_SECONDS = 1
SMALL = Settings(prelude=5, statements=20, faults=50, pace=25)
SERVERS = ("west-metastore", "west-datanode", "east-metastore", "east-datanode")
_PLUGINS = Path(__file__).parents[2] / "plugins"
_RUN = "from twinhive.surfaces.cli.app import main; main()"
_LONGEST_RUN = 60


class Clusters:
    """The two clusters of a sandbox, seen by a user of the source and by an observer of the replica."""

    viewer = Viewer

    def __init__(self, box: Sandbox, policies: PolicyFiles) -> None:
        self.box = box
        self.policies = policies
        _hasten(policies)
        self.database = f"history_{uuid.uuid4().hex[:8]}"
        east, west = box.clusters["east"], box.clusters["west"]
        self.source = ThriftSource([(east.metastore_host, east.metastore_port)], 60.0, east.user)
        self.source_files = HadoopFiles(east.hdfs_uri, east.hadoop_properties, east.user)
        self.replica = ThriftSource([(west.metastore_host, west.metastore_port)], 60.0, west.user)
        self.replica_files = HadoopFiles(west.hdfs_uri, west.hadoop_properties, west.user)
        SourceWriter.with_database(self.source, self.source_files, self.database, {"team": "Zürich"})

    def policy(self, options: Mapping[str, Any]) -> Policy:
        """Write the policy's file and return the policy."""
        return self.policies.wiring(self.policies.add(self.database, options=dict(options))).policy

    def ports(self) -> WritePorts:
        """Return the ports of a run."""
        return self.policies.wiring(self.database).write_ports()

    def run(self, phase: str) -> "subprocess.Popen[str]":
        """Start a run in a process of its own."""
        command = [sys.executable, "-c", _RUN, "run", self.database, phase, "--config", str(self.policies.directory)]
        environment = {**os.environ, "PYTHONPATH": str(_PLUGINS)}
        streams: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        return subprocess.Popen(command, env=environment, text=True, **streams)

    def close(self, *, keep: bool = False) -> None:
        """Leave nothing behind, unless somebody is to look at it."""
        if not keep:
            self._remove()
        for closing in (self.source, self.source_files, self.replica, self.replica_files):
            closing.close()

    def _remove(self) -> None:
        policy = self.policies.wiring(self.database).policy
        for metastore in (self.source, self.replica):
            with suppress(TwinhiveError):
                metastore.set_database_parameters(self.database, {})
                metastore.drop_database(self.database)
        self.source_files.delete(policy.dumps)
        self.replica_files.delete(policy.staging)


def _hasten(policies: PolicyFiles) -> None:
    """Let nobody wait long for an answer."""
    path = policies.directory / "clusters.yaml"
    clusters = yaml.safe_load(path.read_text())["clusters"]
    for cluster in clusters.values():
        cluster["metastore"]["timeout_seconds"] = TIMEOUT_SECONDS
    policies.write("clusters.yaml", {"clusters": clusters})


class ClusterDrill(Drill):
    """Be one history between real clusters. `kills` counts processes and servers that were killed.

    Runs go on in this process, where a watcher sees every call, or in one of their own, which is killed or
    frozen at any moment, and polled.
    """

    place: Clusters

    def __init__(self, seed: int, place: Clusters, settings: Settings = SMALL, *, servers: bool = False) -> None:
        super().__init__(seed, settings, place)
        self.kills = self.polls = 0
        self._server_kills = int(servers)
        self._processes = self.random.choice([0, 1, 1, 2])
        self._server_down = False
        self.watcher.calls_come_late = True

    def in_order(self) -> AbstractContextManager[None]:
        """Let things happen side by side."""
        return nullcontext()

    def _plan(self) -> Plan:
        if self._server_kills and self.random.random() < 0.3:
            self._server_kills -= 1
            server = self.random.choice(SERVERS)
            return Plan(Fault.SERVER, self.random.randint(1, 25), action=lambda: self._kill_server(server))
        plan = super()._plan()
        if plan.fault is Fault.FREEZE:
            plan.fault = Fault.KILL_AFTER
        return plan

    def _attempt(self) -> None:
        if self._processes and self.random.random() < 0.4 and self._follows():
            self.runs += 1
            self._processes -= 1
            self._run_process()
            return
        super()._attempt()
        if self._server_down:
            self.place.box.up()
            self._server_down = False

    def _follows(self) -> bool:
        return ReplicaState.read(self.viewer.parameters()).phase is Phase.FOLLOWING

    def _ended(self, run: Pausable, plan: Plan) -> None:
        self.kills += isinstance(run.error, Killed)
        super()._ended(run, plan)

    def _obey(self, error: TwinhiveError) -> None:
        if not isinstance(error, TryAgain):
            raise error
        self.log.append(f"tried again: {error}")

    def _kill_server(self, server: str) -> None:
        self.log.append(f"{server} is killed")
        self.kills += 1
        self._server_down = True
        self.place.box.kill(server)

    def _users_wait(self) -> bool:
        return self._server_down or super()._users_wait()

    def _run_process(self) -> None:
        """Let a process run for a while, kill or freeze it, and look at the replica from outside meanwhile."""
        process = self.place.run("incremental")
        moment = time.monotonic() + self.random.uniform(1.0, 4.0)
        fate = self.random.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGSTOP, None])
        while process.poll() is None and (fate is None or time.monotonic() < moment):
            self._poll()
            self._meanwhile()
        self.watcher.forget()
        if fate is not None and process.poll() is None:
            process.send_signal(fate)
            self.kills += 1
            if fate is signal.SIGSTOP:
                self.log.append("a process is frozen")
                with suppress(TwinhiveError):
                    self._run_phases(self.ports(Plan()))
                process.send_signal(signal.SIGCONT)
        said, _ = process.communicate(timeout=_LONGEST_RUN)
        self.watcher.forget()
        self.log.append(f"process of run {self.runs}: exit code {process.returncode}, to get {fate}\n{said}")
        assert process.returncode in (0, 3, 4, -signal.SIGKILL), self.story(said)
        assert "Traceback" not in said, self.story(said)

    def _poll(self) -> None:
        """Look from outside; it counts when nothing has changed meanwhile."""
        # What goes away while it is read cannot be read.
        with suppress(TwinhiveError):
            before, position = self.viewer.stamps(), ReplicaState.read(self.viewer.parameters()).position
            state, again = self.viewer.state(), self.viewer.state()
            if state == again and before == self.viewer.stamps():
                self.polls += 1
                self.judge.see(position.event_id, state, "a poll")
