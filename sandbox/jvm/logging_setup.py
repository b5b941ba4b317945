"""Write log4j2 settings under which a server's log cannot fill the disk."""

from pathlib import Path

LOG_MEGABYTES = 20
_LOG4J2 = """status = error
appenders = file
appender.file.type = RollingFile
appender.file.name = file
appender.file.fileName = {log}
appender.file.filePattern = {log}.%i
appender.file.layout.type = PatternLayout
appender.file.layout.pattern = %d{{ISO8601}} %-5p [%t] %c{{2}}: %m%n
appender.file.policies.type = Policies
appender.file.policies.size.type = SizeBasedTriggeringPolicy
appender.file.policies.size.size = {megabytes}MB
appender.file.strategy.type = DefaultRolloverStrategy
appender.file.strategy.max = 1
rootLogger.level = {level}
rootLogger.appenderRefs = file
rootLogger.appenderRef.file.ref = file
logger.blockstate.name = BlockStateChange
logger.blockstate.level = warn
logger.persistence.name = DataNucleus
logger.persistence.level = error
"""


def write_log4j2(path: Path, log: Path, level: str = "info") -> None:
    """Write settings for a log of at most two files of 20 MB."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(_LOG4J2.format(log=log, level=level, megabytes=LOG_MEGABYTES))


def log4j2_flags(path: Path) -> list[str]:
    """Return the flags that make Java read these settings; Hive looks at the older name."""
    return [f"-Dlog4j2.configurationFile={path.as_uri()}", f"-Dlog4j.configurationFile={path.as_uri()}"]
