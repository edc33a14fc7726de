"""Runs the suites of schemas/expectations with Great Expectations: in memory, without telemetry or network."""

import json
import logging
import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import schemas

FOLDER = Path(schemas.__file__).parent / "expectations"
EXAMPLES = 100
"""Rows named for each failed expectation."""


@dataclass(frozen=True)
class Checked:
    """Results of all suites as public JSON, and the library's context for Data Docs."""

    suites: list[dict[str, Any]]
    context: Any

    @property
    def success(self) -> bool:
        return all(one["success"] for one in self.suites)


def suite(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return found


def columns(name: str) -> tuple[str, ...]:
    """What a suite reads."""
    return tuple(dict.fromkeys(one["kwargs"]["column"] for one in suite(name)["expectations"]))


def check(frames: Mapping[str, Any], run_name: str) -> Checked:
    """`frames`: a pandas frame by suite; each has the columns `row` and `document` beside those of its suite."""
    with warnings.catch_warnings():
        # The library uses what Python and pandas have deprecated; nothing of it is ours to mend.
        warnings.simplefilter("ignore")
        return _check(_library(), frames, run_name)


def _check(gx: Any, frames: Mapping[str, Any], run_name: str) -> Checked:
    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = {"globally": False}
    source = context.data_sources.add_pandas("sluice")
    suites = []
    for name, data in frames.items():
        batch = source.add_dataframe_asset(name).add_batch_definition_whole_dataframe("all")
        made = context.suites.add(gx.ExpectationSuite(**suite(name)))
        definition = context.validation_definitions.add(gx.ValidationDefinition(name=name, data=batch, suite=made))
        wanted = {
            "result_format": "SUMMARY",
            "unexpected_index_column_names": ["row", "document"],
            "partial_unexpected_count": EXAMPLES,
        }
        result = definition.run(
            batch_parameters={"dataframe": data}, result_format=wanted, run_id=gx.RunIdentifier(run_name=run_name)
        )
        suites.append({"name": name, "rows": len(data), **_shown(result)})
    return Checked(suites, context)


def _library() -> Any:
    # Before the first import: the library would send usage statistics.
    os.environ["GX_ANALYTICS_ENABLED"] = "false"
    import great_expectations

    logging.getLogger("great_expectations").setLevel(logging.WARNING)
    return great_expectations


def _shown(result: Any) -> dict[str, Any]:
    expectations = [_expectation(one.to_json_dict()) for one in result.results]
    return {"success": all(one["success"] for one in expectations), "expectations": expectations}


def _expectation(one: dict[str, Any]) -> dict[str, Any]:
    config, found = one["expectation_config"], one["result"]
    examples = found.get("partial_unexpected_index_list") or []
    return {
        "code": config["meta"]["code"],
        "title": {"en": config["meta"]["en"], "zh": config["meta"]["zh"]},
        "severity": config["severity"],
        "success": one["success"],
        "column": config["kwargs"]["column"],
        "checked": found.get("element_count", 0),
        "failed": found.get("unexpected_count", 0 if one["success"] else 1),
        "observed": found.get("observed_value"),
        "examples": [{"row": row["row"], "document": row["document"]} for row in examples],
        "error": (one.get("exception_info") or {}).get("exception_message"),
    }
