"""A command's controller replaces that of the subjects, and of nobody else."""

import pytest

import anabranch as ab
from anabranch import Scenario
from anabranch.subjects import subjects

TEXT = """
name = "subjects"
duration = "2 s"

[[link]]
name = "line"
rate = "5 Mb/s"
delay = "10 ms"
queue = { droptail = { packets = "20 packets" } }

[[flow]]
name = "one"
path = [{ links = ["line"] }]

[[flow]]
name = "two"
path = [{ links = ["line"] }, { links = ["line"] }]

[[flow]]
name = "noise"
protocol = "udp"
app_rate = "100 kb/s"
path = [{ links = ["line"] }]
"""


class Still(ab.Controller):
    """Never grows beyond slow start."""


def marked(name: str) -> Scenario:
    """The scenario with a subject."""
    return Scenario.parse(TEXT.replace(f'name = "{name}"', f'name = "{name}"\nsubject = true'))


@pytest.mark.parametrize("name", ["one", "two"])
@pytest.mark.parametrize("controller", ["cubic", Still])
def test_a_controller_replaces_that_of_the_subject_alone(name, controller):
    result = ab.run(marked(name), controller=controller)
    given = {c.name: c.controller for c in result.plan.classes}
    label = controller if isinstance(controller, str) else "py:Still"
    others = {"one": "reno", "two": "reno"} | {name: label}
    assert {key: given[key] for key in others} == others
    assert [c.name for c in subjects(result.plan.classes)] == [name]


@pytest.mark.parametrize("name", ["one", "two"])
def test_a_class_runs_in_the_subject_as_the_law_that_it_repeats(name):
    scenario = marked(name)
    named = ab.run(scenario, controller="cubic").runs[0].digest
    own = scenario.changed(overrides=[f"flow.{name}.controller=cubic"])
    assert ab.run(own).runs[0].digest == named
    assert ab.run(scenario, controller=Still).runs[0].digest != named


def test_without_a_subject_flows_with_several_paths_are_meant():
    plan = Scenario.parse(TEXT).plan(controller="lia")
    assert [c.controller for c in plan.classes if c.protocol == "tcp"] == ["reno", "lia"]


def test_udp_is_no_subject():
    with pytest.raises(ab.ScenarioError, match="subject") as error:
        marked("noise")
    assert "leave `subject` out" in str(error.value)
