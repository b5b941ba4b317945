"""What is recorded of a result is said for every stage that there is."""

from typing import Any, get_type_hints

import pytest

from twinhive.core.step.step_parts import Parts
from twinhive.runtime.pipeline.phases import PHASES, PLACEMENT_PHASES, Stage
from twinhive.surfaces.airflow.monitor.recorded_results import Recorder

STAGES = [stage for stages in (*PHASES.values(), *PLACEMENT_PHASES.values()) for stage in stages]


def result_of(stage: Stage) -> Any:
    """Return the class of what a stage's step returns."""
    if isinstance(stage.step, Parts):
        named: Any = get_type_hints(stage.step.begin)["result"]
        (result,) = (one for one in named.__args__ if one is not type(None))
        return result
    return get_type_hints(stage.step.run)["return"]  # type: ignore[attr-defined]


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.name)
def test_the_result_of_every_stage_is_known(stage: Stage) -> None:
    assert result_of(stage) in known()


def test_a_result_that_nobody_knows_is_an_error() -> None:
    assert not {object, str} & known()
    with pytest.raises(TypeError, match="nobody has said what is recorded"):
        Recorder.note.__wrapped__(None, "a result")  # type: ignore[attr-defined]


def known() -> set[type]:
    """Return the classes of which it is said what is recorded."""
    method: Any = vars(Recorder)["note"]
    return set(method.dispatcher.registry) - {object}
