"""Cases of what is typed: usage, and values that no policy, table or event has."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import typer

from tests.bad_input.case import USAGE, Case
from tests.bad_input.desk import Desk
from tests.support.builders import a_table
from twinhive.surfaces.cli.app import app

# A good value for each argument, so that one at a time can be left out.
_ARGUMENTS = {
    "POLICY": "sales",
    "PLACEMENT": "near",
    "PHASE": "incremental",
    "TABLE": "plain",
    "ID": "9",
    "STATEMENT": "REPL STATUS sales",
    "ACTION": "list",
    "CLUSTER": "east",
    "DIRECTORY": "hdfs://west/export",
}
_REQUIRED_OPTIONS = {"--reason": "why"}


_LOSS = ("--dry-run says what would be lost",)


def _promoted(desk: Desk) -> None:
    parameters = desk.world.replica.database("sales").parameters
    desk.world.replica.set_database_parameters("sales", {**parameters, "twinhive.phase": "promoted"})


def _of_another_version(desk: Desk) -> None:
    parameters = desk.world.replica.database("sales").parameters
    desk.world.replica.set_database_parameters("sales", {**parameters, "twinhive.format": "0"})


def usage_cases() -> Iterator[Case]:
    """Break what command lines say of their parts: what is needed, numbers, limits."""
    group: Any = typer.main.get_command(app)
    for name in group.list_commands(None):
        params = group.get_command(None, name).params
        arguments = [param for param in params if param.param_type_name == "argument" and param.required]
        options = [param for param in params if param.param_type_name == "option"]
        good = [_ARGUMENTS[param.metavar] for param in arguments]
        needed = [
            word for param in options if param.required for word in (param.opts[0], _REQUIRED_OPTIONS[param.opts[0]])
        ]
        for rule, words, says in _broken(arguments, options, good, needed):
            yield Case(f"{name}: {rule}", (name, *words), says, code=USAGE, rule=f"usage {name} {rule}")
        yield Case(
            f"{name}: an option that it does not have",
            (name, *good, "--colour"),
            ("--colour",),
            code=USAGE,
            rule=f"usage {name} unknown",
        )


def _broken(
    arguments: list[Any], options: list[Any], good: list[str], needed: list[str]
) -> Iterator[tuple[str, list[str], tuple[str, ...]]]:
    for number, param in enumerate(arguments):
        # Without this one and all after it.
        yield f"{param.metavar} required", [*good[:number], *needed], (f"Missing argument '{param.metavar}'",)
    for param in [*arguments, *options]:
        for kind, value in _wrong_values(param):
            if param.param_type_name == "option":
                words = [*good, *needed, param.opts[0], value]
                label = param.opts[0]
            else:
                words = [value if param is one else word for one, word in zip(arguments, good, strict=True)] + needed
                label = param.metavar
            yield f"{label} {kind}", words, (label, value)
    for param in options:
        if param.required:
            others = [word for word in needed if word not in (param.opts[0], _REQUIRED_OPTIONS[param.opts[0]])]
            yield f"{param.opts[0]} required", [*good, *others], ("Missing option", param.opts[0])


def _wrong_values(param: Any) -> Iterator[tuple[str, str]]:
    if param.bare_type() in ("int", "float"):
        yield "number", "many"
    if getattr(param, "min", None) is not None:
        yield "minimum", str(param.min - 1)
    if getattr(param, "max", None) is not None:
        yield "maximum", str(param.max + 1)


def _site(content: str) -> Callable[[Desk], None]:
    def spoil(desk: Desk) -> None:
        (desk.directory / "core-site.xml").write_text(content)
        desk.patch.setenv("HADOOP_CONF_DIR", str(desk.directory))

    return spoil


_DEFAULT_FS = "<configuration><property><name>fs.defaultFS</name><value>{}</value></property></configuration>"


def _add_transactional(desk: Desk) -> None:
    desk.world.source.create_table(a_table("sales.acid", parameters={"transactional": "true"}))


def _event(database: str) -> Callable[[Desk], None]:
    def spoil(desk: Desk) -> None:
        # The first event after the bootstrap of a desk.
        desk.world.source.emit("DROP_TABLE", database, "t", {"table": "t"})

    return spoil


def _expire(desk: Desk) -> None:
    for _ in range(2):
        desk.world.source.emit("OPEN_TXN", None, None, {})
    desk.world.source.expire_events(desk.world.source.current_event_id() - 1)


def _broken_policy(desk: Desk) -> None:
    desk.policies.write("policies/broken.yaml", "policy: broken\n")


PAIR = ("copy", "hdfs://east/data/a", "hdfs://west/b")
NEXT_EVENT = "{next}"
"""Stands for the id of the event that comes after the position of a replica that was just published."""

PHASES_CASES = tuple(
    Case(f"{command}: {name}", (command, *words), says, code=USAGE)
    for command in ("run", "plan")
    for name, words, says in (
        ("no phase", ("sales", "sleep"), ("'sleep' is not a phase", "bootstrap, consolidate")),
        ("--again of another phase", ("sales", "scan", "--again"), ("--again is for the phase bootstrap",)),
        ("--deep of another phase", ("sales", "incremental", "--deep"), ("--deep is for the phase scan and verify",)),
    )
)
POLICY_CASES = (
    Case("a command that does not exist", ("mend", "sales"), ("No such command 'mend'",), code=USAGE),
    *(
        Case(
            f"{words[0]}: a policy that does not exist",
            (words[0], "slaes", *words[1:]),
            ("no policy slaes", "one of sales"),
        )
        for words in (
            ("status",),
            ("plan", "scan"),
            ("run", "scan"),
            ("events",),
            ("check",),
            ("resync", "plain"),
            ("verify",),
            ("repair", "plain"),
            ("skip-event", "9", "--reason", "why"),
            ("pause", "--off"),
            ("unlock",),
            ("forget",),
            ("retire",),
        )
    ),
    Case(
        "a policy whose file cannot be used",
        ("run", "broken", "scan"),
        ("broken.yaml cannot be used", "source: missing"),
        _broken_policy,
    ),
    Case(
        "no configuration",
        ("status",),
        ("there is no configuration directory",),
        lambda desk: desk.patch.setattr(desk.policies, "directory", Path("/no/such")),
    ),
    Case("pause: neither reason nor --off", ("pause", "sales"), ("either --reason",), code=USAGE),
    Case("pause: both", ("pause", "sales", "--off", "--reason", "why"), ("either --reason",), code=USAGE),
    Case("pause: a blank reason", ("pause", "sales", "--reason", "  "), ("pause: reason is missing",), follows=True),
    Case(
        "skip-event: a blank reason",
        ("skip-event", "sales", NEXT_EVENT, "--reason", " "),
        ("skip-event: reason is missing",),
        _event("sales"),
        follows=True,
    ),
    Case(
        "skip-event: an empty reason",
        ("skip-event", "sales", "9", "--reason", ""),
        ("reason: cannot be used for the operation skip-event",),
    ),
    Case(
        "skip-event: behind the position",
        ("skip-event", "sales", "1", "--reason", "why"),
        ("event 1 is behind",),
        follows=True,
    ),
    Case(
        "skip-event: not there yet",
        ("skip-event", "sales", "999999", "--reason", "why"),
        ("no event 999999 yet",),
        follows=True,
    ),
    Case(
        "skip-event: out of scope",
        ("skip-event", "sales", NEXT_EVENT, "--reason", "why"),
        ("is not in the scope of policy sales",),
        _event("elsewhere"),
        follows=True,
    ),
    Case(
        "skip-event: not there any more",
        ("skip-event", "sales", NEXT_EVENT, "--reason", "why"),
        ("does not hold event",),
        _expire,
        follows=True,
    ),
    Case(
        "skip-event: before the replica follows",
        ("skip-event", "sales", "1", "--reason", "why"),
        ("needs a replica that follows",),
    ),
    Case("check: failover of no policy", ("check", "--failover"), ("--failover is about one policy",), code=USAGE),
    Case(
        "check: failover before the replica follows",
        ("check", "sales", "--failover"),
        ("a failover needs a replica that follows",),
    ),
    Case("failback: of what was never failed over", ("failback", "sales"), ("has not taken over",), follows=True),
    Case("failover: nothing is said of what is lost", ("failover", "sales", "--unplanned"), _LOSS, code=USAGE),
    Case("failover: no reason", ("failover", "sales", "--unplanned", "--at", "3"), _LOSS, code=USAGE),
    Case(
        "failover: an event, and planned",
        ("failover", "sales", "--at", "3"),
        ("--at and --reason are for --unplanned",),
        code=USAGE,
    ),
    Case(
        "failover: another event than the replica's",
        ("failover", "sales", "--unplanned", "--at", "1", "--reason", "why"),
        ("cannot take over at the event that was named",),
        follows=True,
    ),
    Case(
        "failover: a blank reason",
        ("failover", "sales", "--unplanned", "--at", NEXT_EVENT, "--reason", " "),
        ("failover: reason is missing",),
        follows=True,
    ),
    Case(
        "failover: an abort with an event",
        ("failover", "sales", "--abort", "--at", "3"),
        ("--abort takes nothing else but --dry-run",),
        code=USAGE,
    ),
    Case("failover: an abort without a replica", ("failover", "sales", "--abort"), ("there is no replica of policy",)),
    Case(
        "failover: an abort after the point of no return",
        ("failover", "sales", "--abort"),
        ("cannot be aborted", "west/sales has taken over", "phase promoted", "twinhive failback sales_back --dry-run"),
        _promoted,
        follows=True,
    ),
    Case(
        "run: a replica of another version",
        ("run", "sales", "incremental"),
        ("was made by another version of twinhive", "twinhive.format = 0", "twinhive run sales bootstrap --again"),
        _of_another_version,
        follows=True,
    ),
    Case("failover: without a replica", ("failover", "sales"), ("there is no replica of policy sales",)),
    Case("failover: not ready", ("failover", "sales"), ("is not ready to take over",), follows=True),
    Case(
        "resync: of a replica that has taken over",
        ("resync", "sales", "plain"),
        ("has taken over",),
        _promoted,
        follows=True,
    ),
    Case("resync: neither a table nor all", ("resync", "sales"), ("give either a table, or --all",), code=USAGE),
    Case("resync: a table and all", ("resync", "sales", "plain", "--all"), ("give either a table",), code=USAGE),
    Case("resync: an empty name", ("resync", "sales", ""), ("table: cannot be used for the operation resync",)),
    Case(
        "resync: not selected",
        ("resync", "sales", "tmp_1"),
        ("does not select 'tmp_1'",),
        lambda desk: desk.policies.add("sales", tables={"exclude": ["tmp_.*"]}),
    ),
    Case("resync: nowhere", ("resync", "sales", "nowhere"), ("no table nowhere on either side",), follows=True),
    Case(
        "resync: left out",
        ("resync", "sales", "acid"),
        ("sales.acid is not replicated", "transactional"),
        _add_transactional,
        follows=True,
    ),
    Case("repair: no expression", ("repair", "sales", "(("), ("neither a table's name nor",), follows=True),
    Case("repair: nowhere", ("repair", "sales", "nowhere"), ("no table nowhere on either side",), follows=True),
    Case("repair: tables and all", ("repair", "sales", "plain", "--quarantined"), ("either tables",), code=USAGE),
    Case("repair: before the replica follows", ("repair", "sales"), ("a repair needs a replica that follows",)),
    Case(
        "verify: not selected",
        ("verify", "sales", "tmp_1"),
        ("does not select 'tmp_1'",),
        lambda desk: desk.policies.add("sales", tables={"exclude": ["tmp_.*"]}),
        follows=True,
    ),
    Case("verify: nowhere", ("verify", "sales", "nowhere"), ("no table nowhere on either side",), follows=True),
    Case("verify: before the replica follows", ("verify", "sales"), ("a verification needs a replica that follows",)),
    Case("resync: before the replica follows", ("resync", "sales", "plain"), ("needs a replica that follows",)),
    Case("resync: all, before the replica follows", ("resync", "sales", "--all"), ("needs a replica that follows",)),
)
COPY_CASES = (
    Case("copy: no target", ("copy", "hdfs://east/data/a"), ("a copy needs a source and a target",)),
    Case("copy: an address of nothing", ("copy", "data", "hdfs://west/b"), ("'data' names no file system",)),
    Case(
        "copy: a dot in an address",
        ("copy", "hdfs://east/data/../a", "hdfs://west/b"),
        ("'hdfs://east/data/../a' cannot be used",),
    ),
    Case("copy: a cluster that does not exist", ("copy", "north:/a", "hdfs://west/b"), ("no cluster north",)),
    Case(
        "copy: no configuration",
        PAIR,
        ("clusters.yaml",),
        lambda desk: (desk.policies.directory / "clusters.yaml").unlink(),
    ),
    Case("copy: a site file that is no XML", PAIR, ("core-site.xml cannot be read",), _site("<configuration")),
    Case(
        "copy: a default file system that is none",
        ("copy", "/data/a", "hdfs://west/b"),
        ("fs.defaultFS",),
        _site(_DEFAULT_FS.format("east")),
    ),
    Case("copy: a list that is not there", (*PAIR, "--sources-from", "/no/such"), ("/no/such cannot be read",)),
    Case("copy: no property", (*PAIR, "-D", "nonsense"), ("'nonsense' is not a property",)),
    Case("copy: an unknown letter", (*PAIR, "--preserve", "rz"), ("'z' is not a letter",)),
    Case("copy: a filter that does not compile", (*PAIR, "--exclude", "("), ("does not compile",)),
    Case("copy: no threads", (*PAIR, "--threads", "0"), ("threads must be above zero",)),
    Case("copy: no value of an option", (*PAIR, "--delete", "all"), ("delete: this is not one of its values", "trash")),
    Case(
        "copy: what excludes each other",
        (*PAIR, "--append", "--overwrite"),
        ("append and mode=overwrite exclude each other",),
    ),
    Case(
        "copy: sources on two file systems",
        ("copy", "hdfs://east/data/a", "hdfs://west/c", "hdfs://west/b"),
        ("is on another file system",),
    ),
    Case(
        "copy: into snapshots", ("copy", "hdfs://east/data/a", "hdfs://west/b/.snapshot/s"), ("is no place for a copy",)
    ),
    Case(
        "copy: a source without a name",
        ("copy", "hdfs://east/", "hdfs://east/data/a", "hdfs://west/b"),
        ("has no name",),
    ),
    Case(
        "copy: two sources of one name",
        ("copy", "hdfs://east/data/a", "hdfs://east/data/b/a", "hdfs://west/b"),
        ("2 sources would have the name a",),
    ),
    Case("copy: staging elsewhere", (*PAIR, "--staging", "hdfs://east/s"), ("is not on the target's file system",)),
    Case("copy: staging in the target", (*PAIR, "--staging", "hdfs://west/b/s"), ("would be taken for content",)),
    Case(
        "copy: onto itself", ("copy", "hdfs://east/data/a", "hdfs://east/data/a"), ("source and target are the same",)
    ),
    Case(
        "copy: into its source", ("copy", "hdfs://east/data", "hdfs://east/data/c"), ("the target lies in its source",)
    ),
    Case(
        "copy: out of its target",
        ("copy", "hdfs://east/data/b/a", "hdfs://east/data"),
        ("the source lies in its target",),
    ),
    Case("copy: a master that is none", (*PAIR, "--spark", "moon"), ("--spark: this is no master",)),
    Case("copy: no tasks", (*PAIR, "--spark", "local[1]", "--tasks", "0"), ("--tasks: not a number of tasks",)),
    Case(
        "copy: a setting that is not Spark's",
        (*PAIR, "--spark", "local[1]", "--spark-conf", "a=b"),
        ("'a' is not a setting of Spark",),
    ),
    Case(
        "copy: in cluster mode",
        (*PAIR, "--spark", "yarn", "--spark-conf", "spark.submit.deployMode=cluster"),
        ("deployMode cannot be cluster",),
    ),
)
