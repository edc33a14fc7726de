"""The application as Airflow serves it."""

from functools import cache

from pipelines.app import App
from pipelines.wiring import wire
from sluice_ui.airflow_host import AirflowHost
from sluice_ui.app import create_app


@cache
def _wired() -> App:
    from pipelines.migrate import migrate

    made = wire()
    migrate(made)
    return made


def _load() -> None:
    from pipelines.serve import warm

    warm(_wired())


app = create_app(AirflowHost(), _wired, _load)
