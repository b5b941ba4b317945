"""Find the files of `spark_jobs/`: beside the plugins, or beside the DAGs where the package was installed elsewhere."""

from pathlib import Path

import twinhive
from twinhive.core.model.errors import ActNow
from twinhive.core.model.text import Again

_DIRECTORY = "spark_jobs"
_projects: list[Path] = [Path(twinhive.__file__).parents[2]]


def look_in(project: Path) -> None:
    """Look in a project's directory first from now on: the one whose DAG file this process has read."""
    if project in _projects:
        _projects.remove(project)
    _projects.insert(0, project)


def application_file(name: str) -> Path:
    """Return the file of an application, such as `copy_files`. Raises ActNow when it is nowhere."""
    places = [project / _DIRECTORY / f"{name}.py" for project in _projects]
    for path in places:
        if path.is_file():
            return path
    raise ActNow(
        f"the Spark job {name} is not there",
        found=f"no {' and no '.join(map(str, places))}",
        expected="spark_jobs/ beside dags/ or beside plugins/, as in the source tree",
        next_step="put spark_jobs/ there, or copy without --spark; then " + Again(),
    )
