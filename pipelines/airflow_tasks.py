"""What the DAGs' tasks do, as plain functions. Values that cross tasks are ids, counts and states, never content."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal

from pipelines.errors import Code, Conflict, Misconfigured, Systemic, Transient
from pipelines.review.policy import POLICY
from pipelines.review.quarantine import Kind

MAX_BATCHES = 1000
"""Airflow maps a task over at most 1024 values (`[core] max_map_length`)."""


def plan(form: Mapping[str, Any], run: str, actor: str) -> list[list[str]]:
    """Scan the sources; what waits for the layers, as batches of version ids. `form` is the form of `kb_sync`."""
    from pipelines import flow, runs
    from pipelines.backfill import reopen
    from pipelines.migrate import migrate

    app = _wired(actor)
    migrate(app)
    with _sync(app, run):
        key = run_key(run)
        runs.start(app, key, "sync")
        if form.get("scan", True):
            scans = flow.scan_sources(
                app,
                key,
                source=form.get("source") or None,
                glob=form.get("path") or None,
                full=bool(form.get("full")),
                confirm_deletions=bool(form.get("confirm_deletions")),
            )
            runs.report(app, key, [one.report() for one in scans])
        if chosen := selection(form.get("again") or form):
            reopen(app, chosen, key)
        return _bounded(flow.batches(app))


def run_key(run: str) -> str:
    """An Airflow run id as our tables keep it."""
    import hashlib

    return hashlib.sha256(run.encode()).hexdigest()[:32]


@contextmanager
def _sync(app: Any, run: str) -> Iterator[None]:
    """The tasks of one run hold the sync together; beside another sync a task is tried again later."""
    from pipelines.lease import held_by_run

    with _patient(), held_by_run(app, "sync", f"kb_sync {run}"[:128]):
        yield


@contextmanager
def _patient() -> Iterator[None]:
    """Beside another run that holds what is needed, a task is tried again later."""
    try:
        yield
    except Conflict as error:
        if error.code is not Code.LOCKED:
            raise
        raise Transient(error.code, error.reason) from error


def selection(form: Mapping[str, Any]) -> Any:
    """What a form asks to process anew; None where it asks for nothing."""
    from datetime import date

    from pipelines.backfill import Selection

    if not form.get("from_layer"):
        return None
    sources = form.get("sources") or ([form["source"]] if form.get("source") else [])
    return Selection(
        layer=form["from_layer"],
        sources=tuple(sources),
        glob=form.get("path") or None,
        since=date.fromisoformat(form["since"]) if form.get("since") else None,
        until=date.fromisoformat(form["until"]) if form.get("until") else None,
        token=form.get("token") or "",
        limit=form.get("slice") or None,
    )


def backfill_left(form: Mapping[str, Any], actor: str) -> bool:
    """Whether `kb_backfill` has to go on."""
    from pipelines.backfill import remains

    chosen = selection(form)
    return chosen is not None and remains(_wired(actor), chosen)


def _bounded(batches: Sequence[Sequence[str]]) -> list[list[str]]:
    """At most MAX_BATCHES batches: beyond that, neighbours join."""
    together = -(-len(batches) // MAX_BATCHES) or 1
    return [
        [version for batch in batches[start : start + together] for version in batch]
        for start in range(0, len(batches), together)
    ]


def run_layer(layer: str, versions: Sequence[str], run: str, actor: str) -> list[str]:
    """Take a batch through one layer. Returns the versions that passed; done twice, it does nothing twice."""
    from pipelines.layers import LAYERS
    from pipelines.runner import Tally, run_layers

    app = _wired(actor)
    chosen = [one for one in LAYERS if one.name == layer]
    with _sync(app, run):
        # After a retry some of the batch may be staged already, or rejected; after a failure some are not there yet.
        return run_layers(app, _in_progress(app, versions, chosen[0]), Tally(), chosen)


def build(run: str, actor: str) -> int | None:
    """A release in review of all that is staged or gone; None when there is nothing to review. What the batches found
    inside of files goes through the layers before."""
    from pipelines.flow import run_children
    from pipelines.review.build import build as act
    from pipelines.runner import Tally

    app = _wired(actor)
    with _sync(app, run):
        run_children(app, Tally())
        return act(app).number


def check(batches: Sequence[Sequence[str]] | None, run: str, actor: str, unchecked: bool = False) -> int:
    """The number of versions that are through; ends the run's hold on the knowledge base.

    Raises Systemic when the scan or a batch failed, a source was missing, a breaker stopped a removal, or the new
    release is `unchecked`: its quality report crashed.
    """
    from pipelines import runs
    from pipelines.lease import release

    app = _wired(actor)
    release(app, "sync", f"kb_sync {run}"[:128])
    if batches is None:
        raise Systemic(Code.SYSTEMIC, "the scan failed: see the log of task `scan`")
    runs.end(app, run_key(run))
    versions = [version for batch in batches for version in batch]
    troubles = runs.troubles(app, run_key(run))
    if stuck := _in_progress(app, versions):
        troubles.append(f"{len(stuck)} of {len(versions)} documents are not through; the next sync goes on")
    if unchecked:
        troubles.append("the quality report crashed; the release is in review all the same")
    if troubles:
        raise Systemic(Code.SYSTEMIC, "; ".join(troubles))
    return len(versions)


def _in_progress(app: Any, versions: Sequence[str], layer: Any = None) -> list[str]:
    """Those that are under way; with `layer`, those that have passed the layer before it."""
    from sqlalchemy import select

    from pipelines.layers import LAYERS
    from sql.tables import version

    passed = ["scan", *(one.name for one in LAYERS)]
    if layer:
        passed = passed[passed.index(layer.name) - 1 :]
    alive: set[str] = set()
    with app.database.read() as tx:
        for start in range(0, len(versions), 500):
            chosen = version.c.id.in_(list(versions[start : start + 500]))
            under_way = chosen & (version.c.state == "in_progress") & version.c.layer.in_(passed)
            alive.update(tx.execute(select(version.c.id).where(under_way)).scalars())
    return [one for one in versions if one in alive]


def prepare(number: int, escalated: bool = False) -> dict[str, Any]:
    """The policies are asked first. `ask`: whether a person has to decide; `users`, `hours`, `body`: whom to ask, how
    long, and what they see, as Markdown; `next`: the run that asks about what was left out, as in `decide`."""
    from pipelines.report import views
    from pipelines.report.summary import summary
    from pipelines.review import decide, policy

    app = _wired(POLICY)
    with app.database.read() as tx:
        state = views.release(tx, app.kb, number)["state"]
    if state not in ("in_review", "approved", "failed"):
        raise Conflict(Code.RELEASE_STATE, f"release {number} is {state}; there is nothing to decide")
    approved, rest = (True, None) if state == "approved" else decide.approve_by_policy(app, number)
    asked = policy.question(app, number, escalated)
    with app.database.read() as tx:
        body = summary(tx, app.kb, number)
    following = {"conf": {"release": rest}, "run": f"release-{rest}"} if rest else None
    return {"ask": not approved, "body": body, "users": list(asked.users), "hours": asked.hours, "next": following}


def decide(number: int, answer: Mapping[str, Any], escalated: bool = False) -> dict[str, Any]:
    """Write a person's answer into our database, under their name; where nobody answered in time, what the policies
    say to that. `actor`: who decided; `next`: form (`conf`) and id of the run that asks what is left, or None.

    Hold leaves the release in review, where the next sync folds it in.
    """
    from pipelines import lifecycle
    from pipelines.review import decide as acts
    from pipelines.review import policy

    user = (answer.get("responded_by_user") or {}).get("id")
    if not user:
        return _timed_out(number, escalated)
    actor = str(user)
    reason = str((answer.get("params_input") or {}).get("reason") or "no reason given")
    app = _wired(actor)
    option = answer["chosen_options"][0]
    following: dict[str, Any] | None = None
    if _decided(app, number, option):
        return {"actor": actor, "next": None}
    if option == "Approve":
        with app.database.read() as tx:
            items = policy.undecided(tx, app.kb, number)
        mine = [one.document for one in items if actor in (*policy.reviewers(one.source, escalated), "admin")]
        whole = len(mine) in (0, len(items)) or any(one.source.review.approvers > 1 for one in items)
        if not whole:
            _, rest = acts.approve_part(app, number, mine, reason)
            following = {"conf": {"release": rest}, "run": f"release-{rest}"} if rest else None
        elif not acts.approve(app, number, reason):
            following = {"conf": {"release": number, "escalated": escalated}, "run": f"release-{number}-after-{actor}"}
    elif option == "Decline":
        acts.decline(app, number, reason)
    else:
        with app.database.write() as tx:
            lifecycle.record(tx, app.kb, actor, "release.kept_in_review", "release", str(number), reason)
    return {"actor": actor, "next": following}


def _timed_out(number: int, escalated: bool) -> dict[str, Any]:
    """Escalate where a policy names people for it; else each source's `on_timeout` counts for its own changes."""
    from pipelines import lifecycle
    from pipelines.review import decide as acts
    from pipelines.review import policy

    app = _wired(POLICY)
    if policy.question(app, number, escalated).escalates:
        with app.database.write() as tx:
            lifecycle.record(tx, app.kb, POLICY, "release.escalated", "release", str(number), "nobody answered in time")
        following = {"conf": {"release": number, "escalated": True}, "run": f"release-{number}-escalated"}
        return {"actor": POLICY, "next": following}
    with app.database.read() as tx:
        items = policy.undecided(tx, app.kb, number)
    refused = [one.document for one in items if one.source.review.on_timeout == "decline"]
    passed = [one.document for one in items if one.source.review.on_timeout == "approve"]
    if refused:
        acts.reject(app, number, refused, "nobody answered in time, and the policy declines then")
    if passed:
        acts.approve_part(app, number, passed, "nobody answered in time, and the policy approves then")
    else:
        with app.database.write() as tx:
            reason = "nobody answered in time"
            lifecycle.record(tx, app.kb, POLICY, "release.kept_in_review", "release", str(number), reason)
    return {"actor": POLICY, "next": None}


def _decided(app: Any, number: int, option: str) -> bool:
    """Whether the review page has written this very decision already: it then answers Airflow's question too."""
    from pipelines.report import views

    with app.database.read() as tx:
        state = views.release(tx, app.kb, number)["state"]
    return state in {"Approve": ("approved", "publishing", "live"), "Decline": ("declined",)}.get(option, ())


def publish(number: int, actor: str | None) -> int | None:
    """Publish if and only if our database says that the release is approved. Returns the live release, else None."""
    from pipelines.publish.publish import publish as act
    from pipelines.report import views

    app = _wired(actor or POLICY)
    with app.database.read() as tx:
        state = views.release(tx, app.kb, number)["state"]
    # `publishing` and `live`: an earlier try of this task was cut off; publishing again finishes it.
    if state not in ("approved", "publishing", "live"):
        return None
    with _patient():
        return act(app, number, "approved").live_release


def rollback(form: Mapping[str, Any], actor: str) -> int:
    """Readers go back to a release, or to a version of one document, at once. Returns the live release."""
    from pipelines.publish import rollback as acts

    app, reason = _wired(actor), str(form["reason"])
    if form.get("document") and form.get("version"):
        return acts.rollback_document(app, form["document"], form["version"], reason).live_release
    if form.get("release") is None:
        raise Misconfigured(Code.BAD_SETTING, "name a release, or a document and one of its versions")
    return acts.rollback(app, form["release"], reason).live_release


def govern(
    action: Literal["quarantine", "restore", "requeue"], kind: Kind, subject: str, reason: str, actor: str
) -> dict[str, int]:
    """Quarantine, restore or requeue a subject; returns what was affected, in numbers."""
    from pipelines.review import quarantine as acts

    app = _wired(actor)
    if action == "requeue":
        return {"versions": len(acts.requeue(app, kind, subject, reason))}
    used = (acts.quarantine if action == "quarantine" else acts.restore)(app, kind, subject, reason)
    return {"chunks": used.chunks, "queries": used.queries, "users": used.users}


def impact(kind: Kind, subject: str, reason: str) -> str:
    """What a person sees before something is erased, as Markdown. Raises Conflict(UNKNOWN_SUBJECT)."""
    from pipelines.review import quarantine as acts

    app = _wired(POLICY)
    with app.database.read() as tx:
        acts.check_known(tx, app.kb, kind, subject)
        used = acts.impact(tx, app.kb, kind, subject)
    counts = f"{used.chunks} chunks, used by {used.queries} questions of {used.users} people"
    return f"{kind} `{subject}`: {counts}.\n\nReason: {reason}\n\nThis cannot be undone."


def forget(kind: Any, subject: str, reason: str, answer: Mapping[str, Any]) -> dict[str, int] | None:
    """Erase if that was the answer, under the name of who gave it; returns what went, in numbers."""
    from pipelines.publish.forget import forget as act

    if answer["chosen_options"][0] != "Erase":
        return None
    who = str((answer.get("responded_by_user") or {}).get("id") or "nobody")
    deleted: dict[str, int] = act(_wired(who), kind, subject, reason)["certificate"]["deleted"]
    return deleted


def vacuum(actor: str) -> dict[str, int]:
    """Remove what no kept release shows; returns what went, in numbers."""
    from pipelines.publish.vacuum import vacuum as act

    with _patient():
        done = act(_wired(actor))
    return {"released": len(done["released"]), **done["deleted"]}


def reembed(embedder: str, reason: str, actor: str) -> dict[str, int]:
    """Change the embedder; returns rows written and texts embedded."""
    from pipelines.publish.reembed import reembed as act

    with _patient():
        done = act(_wired(actor), embedder, reason)
    return {"rows": done["rows"], "embedded": done["calls"]["embed"]}


def reconcile(repair: bool, actor: str) -> dict[str, int]:
    """Compare SQL and index. Raises Systemic when there are faults that nobody repaired."""
    from pipelines.publish.reconcile import reconcile as act

    with _patient():
        found = act(_wired(actor), repair=repair)
    faults = len(found["faults"])
    if faults > found["repaired"]:
        raise Systemic(Code.SYSTEMIC, f"{faults} rows of the index differ from SQL; run kb_reconcile with repair")
    return {"checked": found["checked"], "faults": faults, "repaired": found["repaired"]}


def evaluate(form: Mapping[str, Any], actor: str) -> dict[str, float]:
    """The means of a release on a set (default: live, the sets of sources.yaml). Nothing to do without sets: {}."""
    from pipelines.evaluate.evaluate import evaluate as act

    app = _wired(actor)
    sets = [form["set"]] if form.get("set") else list(app.sources().evaluation.sets)
    if not sets:
        return {}
    found: dict[str, float] = act(app, sets, form.get("release"), form.get("against"))["metrics"]
    return found


def _wired(actor: str) -> Any:
    from pipelines.wiring import wire

    return wire(actor=actor)
