"""Knowledge base in the Airflow UI: pages, and links to them. Airflow imports this file in every process, so the pages
themselves (`sluice_ui`) are loaded on their first request, in the API server only."""

import importlib
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, ClassVar

from airflow.plugins_manager import AirflowPlugin
from airflow.providers.standard.operators.hitl import HITLOperator
from airflow.sdk import BaseOperatorLink

PREFIX = "/knowledge-base"
ROUTE = "knowledge-base"


class LazyApp:
    """An ASGI application that is imported when it is first asked."""

    def __init__(self, module: str, name: str) -> None:
        self._module, self._name = module, name
        self._app: Any = None

    async def __call__(
        self, scope: MutableMapping[str, Any], receive: Callable[[], Awaitable[Any]], send: Callable[[Any], Any]
    ) -> None:
        if self._app is None:
            self._app = getattr(importlib.import_module(self._module), self._name)
        # The pages call Airflow's own API: the application that they are mounted in.
        await self._app({**scope, "airflow": scope.get("app")}, receive, send)


class ReviewLink(BaseOperatorLink):  # type: ignore[misc]
    """From the question of `kb_release` to the page that answers it."""

    name = "Review page"
    operators: ClassVar[list[Any]] = [HITLOperator]

    def get_link(self, operator: Any, *, ti_key: Any) -> str:
        """Nothing for the questions of other DAGs."""
        if ti_key.dag_id != "kb_release":
            return ""
        return f"/plugin/{ROUTE}{PREFIX}/run/{ti_key.dag_id}/{ti_key.run_id}"


class SluicePlugin(AirflowPlugin):  # type: ignore[misc]
    """What Airflow registers."""

    name = "sluice"
    fastapi_apps: ClassVar[list[Any]] = [
        {"app": LazyApp("sluice_ui.main", "app"), "url_prefix": PREFIX, "name": "Knowledge base"}
    ]
    external_views: ClassVar[list[Any]] = [
        {
            "name": "Knowledge base",
            "href": f"{PREFIX}/",
            "destination": "nav",
            "url_route": ROUTE,
            "nav_top_level": True,
            "icon": f"{PREFIX}/static/icon.svg",
            "icon_dark_mode": f"{PREFIX}/static/icon-dark.svg",
        },
        {
            "name": "Knowledge base",
            "href": f"{PREFIX}/run/{{DAG_ID}}/{{RUN_ID}}",
            "destination": "dag_run",
            "url_route": "knowledge-base-run",
        },
        {
            "name": "Knowledge base",
            "href": f"{PREFIX}/run/{{DAG_ID}}/{{RUN_ID}}",
            "destination": "task_instance",
            "url_route": "knowledge-base-task",
        },
    ]
    operator_extra_links: ClassVar[list[Any]] = [ReviewLink()]
