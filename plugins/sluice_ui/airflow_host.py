"""Airflow as the host. All that these pages do in Airflow goes through its public REST API, called inside this process
with the token of the user who clicked: Airflow checks the right and writes its own log, as if they had used its UI."""

import time
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from urllib.parse import quote

import anyio.from_thread
import httpx
from airflow.api_fastapi.app import get_auth_manager
from airflow.api_fastapi.auth.managers.models.resource_details import DagAccessEntity, DagDetails
from airflow.api_fastapi.core_api.security import bearer_scheme, get_user
from fastapi import HTTPException
from starlette.requests import Request

from pipelines.airflow_api import SETTLE_SECONDS
from pipelines.errors import Code, Conflict, Misconfigured, Transient
from sluice_ui.host import Account

COOKIE = "_token"


class AirflowHost:
    """Airflow 3.3."""

    async def account(self, request: Request) -> Account | None:
        try:
            user = await get_user(request, None, await bearer_scheme(request))
        except HTTPException:
            return None
        roles = [user.role] if getattr(user, "role", None) else [one.name for one in getattr(user, "roles", ())]
        teams = tuple(getattr(user, "teams", ()) or ())
        return Account(str(user.get_id()), user.get_name(), tuple(str(one) for one in roles), teams, user)

    def login_url(self, back: str) -> str:
        return str(get_auth_manager().get_url_login(next_url=back))

    def may_run(self, account: Account, dag: str) -> bool:
        details, entity = DagDetails(id=dag), DagAccessEntity.RUN
        allowed = get_auth_manager().is_authorized_dag(
            method="POST", access_entity=entity, details=details, user=account.handle
        )
        return bool(allowed)

    def run(self, request: Request, dag: str, conf: Mapping[str, Any]) -> str:
        made = _call(request, "POST", f"dags/{_quote(dag)}/dagRuns", {"logical_date": None, "conf": dict(conf)})
        return str(made["dag_run_id"])

    def run_url(self, dag: str, run: str) -> str:
        return f"/dags/{_quote(dag)}/runs/{_quote(run)}"

    def run_conf(self, request: Request, dag: str, run: str) -> Mapping[str, Any]:
        try:
            found = _call(request, "GET", f"dags/{_quote(dag)}/dagRuns/{_quote(run)}")
        except (Misconfigured, Conflict):
            return {}
        return dict(found.get("conf") or {})

    def answer(self, request: Request, release: int, option: str, reason: str) -> bool:
        query = "response_received=false&state=awaiting_input&limit=100"
        asked = _call(request, "GET", f"dags/kb_release/dagRuns/~/hitlDetails?{query}")["hitl_details"]
        for one in asked:
            task = one["task_instance"]
            conf = self.run_conf(request, "kb_release", task["dag_run_id"])
            if conf.get("release") != release:
                continue
            # Airflow asks again where an answer comes within a moment of the question; this runs in a worker thread.
            asked_at = datetime.fromisoformat(one["created_at"]).timestamp()
            time.sleep(min(SETTLE_SECONDS, max(0.0, asked_at + SETTLE_SECONDS - time.time())))
            run = f"dags/kb_release/dagRuns/{_quote(task['dag_run_id'])}"
            place = f"{run}/taskInstances/{_quote(task['task_id'])}/{task['map_index']}/hitlDetails"
            _call(request, "PATCH", place, {"chosen_options": [option], "params_input": {"reason": reason}})
            return True
        return False


def _quote(text: str) -> str:
    return quote(text, safe="")


def _token(request: Request) -> str:
    given = request.headers.get("authorization", "")
    if given.lower().startswith("bearer "):
        return given[7:]
    return request.cookies.get(COOKIE, "")


def _call(request: Request, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
    """Runs on the server's event loop: the pages themselves are drawn in worker threads."""
    reply: httpx.Response = anyio.from_thread.run(_ask, request.scope["airflow"], _token(request), method, path, body)
    if reply.status_code < 400:
        return reply.json() if reply.content else {}
    reason = f"Airflow refused {method} {path.partition('?')[0]}: {reply.status_code} {reply.text[:300]}"
    if reply.status_code == 409:
        raise Conflict(Code.AIRFLOW_REFUSED, reason)
    kind = Transient if reply.status_code >= 500 else Misconfigured
    raise kind(Code.AIRFLOW_REFUSED, reason)


async def _ask(airflow: Any, token: str, method: str, path: str, body: Mapping[str, Any] | None) -> httpx.Response:
    """`airflow`: the application that these pages are mounted in."""
    transport = httpx.ASGITransport(app=airflow, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        headers = {"Authorization": f"Bearer {token}"}
        return await client.request(method, f"/api/v2/{path}", json=body, headers=headers)
