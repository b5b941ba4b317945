"""Write the configuration files that the containers of docker-compose.yml mount: `python -m deploy.render`."""

from collections.abc import Mapping
from pathlib import Path

from deploy.settings import connections, hadoop_client, hdfs_server, metastore
from sandbox.configuration import CLUSTERS, Properties, render_xml

DIRECTORY = Path(__file__).with_name("conf")


def rendered() -> dict[str, str]:
    """Return the text of each file, by its path below `DIRECTORY`."""
    files = {"connections.env": _variables(connections())}
    for cluster in CLUSTERS:
        files |= {f"{cluster}/hdfs/{name}": text for name, text in _hadoop_files(hdfs_server(cluster)).items()}
        files |= {f"{cluster}/metastore/{name}": text for name, text in _hadoop_files(hadoop_client(cluster)).items()}
        files[f"{cluster}/metastore/metastore-site.xml"] = render_xml(metastore(cluster))
    return files


def main() -> None:
    """Write all files."""
    for name, text in rendered().items():
        path = DIRECTORY / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def _hadoop_files(properties: Properties) -> dict[str, str]:
    hdfs = {key: value for key, value in properties.items() if key.startswith("dfs.")}
    core = {key: value for key, value in properties.items() if key not in hdfs}
    return {"core-site.xml": render_xml(core), "hdfs-site.xml": render_xml(hdfs)}


def _variables(variables: Mapping[str, str]) -> str:
    # Between single quotes Compose takes the text as it is.
    return "".join(f"{name}='{value}'\n" for name, value in sorted(variables.items()))


if __name__ == "__main__":
    main()
