"""Numbers for the operators' dashboards, through Airflow's own StatsD or OpenTelemetry where the site has it on."""

from collections.abc import Mapping


def gauges(values: Mapping[str, float], kb: str) -> None:
    """`sluice.NAME` for each; nothing happens outside of Airflow, or where its metrics are off."""
    try:
        from airflow.sdk.observability.stats import gauge
    except ImportError:
        return
    for name, value in values.items():
        gauge(f"sluice.{name}", value, tags={"kb": kb})
