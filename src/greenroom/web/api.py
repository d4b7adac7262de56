"""The HTTP API: results coming home, the prolog's question, and what there is to see."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse
from prometheus_client import CONTENT_TYPE_LATEST

from greenroom import __version__
from greenroom.controller.gate import UnknownNode
from greenroom.controller.groups import progress
from greenroom.controller.loop import Health
from greenroom.controller.results import Refused, Results
from greenroom.model.jsonish import Unreadable, to_json
from greenroom.policy.rules import Rules
from greenroom.store import Json, Store, StoreUnavailable
from greenroom.web.metrics import exposition

MAX_BODY_BYTES = 4 * 1024 * 1024


class TooLarge(Exception):
    """The body is larger than a report can be."""


def build(
    *,
    store: Store,
    results: Results,
    rules: Callable[[], Rules],
    health: Callable[[], Health],
    wake: Callable[[], None],
) -> FastAPI:
    """The application. ``wake``: the loop has something to do."""
    app = FastAPI(
        title="Greenroom", version=__version__, docs_url="/api/docs", openapi_url="/api/openapi.json"
    )
    _add_errors(app)

    @app.post("/api/v1/runs/{run_id}/report")
    async def report(run_id: str, request: Request) -> Any:  # noqa: ANN401 - FastAPI reads annotations
        """A check run's result; answered with the node's phase and, if admitted, its record."""
        body = await _body(request)
        sent = request.headers.get("authorization", "").removeprefix("Bearer ").strip()
        answer = await _threaded(results.finished, run_id, sent, body)
        wake()
        return answer

    @app.post("/api/v1/nodes/{node}/report")
    async def unasked(node: str, request: Request) -> Any:  # noqa: ANN401
        """A finding on a node in service; header X-Greenroom-Admission carries its record."""
        body = await _body(request)
        record = _json(request.headers.get("x-greenroom-admission", "{}").encode())
        answer = await _threaded(results.found, node, record, body)
        wake()
        return answer

    @app.get("/api/v1/nodes/{node}/admitted")
    def admitted(node: str, boot_id: str = "") -> Json:
        """The prolog's question."""
        yes, reason = results.admitted(node, boot_id)
        return {"admitted": yes, "reason": reason}

    @app.get("/healthz")
    def healthz(response: Response) -> Json:
        """How the controller is doing; 503 while it can decide nothing."""
        now = health()
        response.status_code = 503 if now.scheduler_away or now.store_away else 200
        return {"version": __version__, **_plain(now)}

    @app.get("/metrics")
    def metrics() -> Response:
        """For Prometheus."""
        return Response(exposition(store, health), media_type=CONTENT_TYPE_LATEST)

    _add_views(app, store, rules)
    return app


def _add_views(app: FastAPI, store: Store, rules: Callable[[], Rules]) -> None:
    @app.get("/api/v1/nodes")
    def nodes() -> Any:  # noqa: ANN401
        """All nodes' states."""
        return to_json(store.states())

    @app.get("/api/v1/nodes/{node}")
    def node(node: str) -> Any:  # noqa: ANN401
        """One node: state and timeline."""
        state = store.load(node)
        if state is None:
            raise UnknownNode(f"no node {node!r}")
        return {"state": to_json(state), "timeline": to_json(store.timeline(node))}

    @app.get("/api/v1/runs")
    def runs(node: str = "", limit: int = 50) -> Any:  # noqa: ANN401
        """The latest runs."""
        return to_json(store.runs(node, min(limit, 1000)))

    @app.get("/api/v1/runs/{run_id}")
    def run(run_id: str) -> Any:  # noqa: ANN401
        """One run with its report."""
        found = store.run(run_id)
        if found is None:
            raise UnknownNode(f"no run {run_id!r}")
        return to_json(found)

    @app.get("/api/v1/groups")
    def groups() -> Any:  # noqa: ANN401
        """Progress of the groups."""
        return to_json(progress(rules().groups, store.states()))

    @app.get("/api/v1/alerts")
    def alerts(*, open_only: bool = False) -> Any:  # noqa: ANN401
        """What a person was told, newest first."""
        return to_json(store.alerts(open_only=open_only))


def _add_errors(app: FastAPI) -> None:
    statuses = {Refused: 403, Unreadable: 422, UnknownNode: 404, TooLarge: 413, StoreUnavailable: 503}

    async def answer(_request: Request, error: Exception) -> JSONResponse:
        return JSONResponse({"error": str(error)}, status_code=statuses[type(error)])

    for kind in statuses:
        app.add_exception_handler(kind, answer)


async def _threaded(function: Callable[..., Json], *args: object) -> Json:
    from fastapi.concurrency import run_in_threadpool  # noqa: PLC0415 - keeps the module's head about HTTP

    return await run_in_threadpool(function, *args)


async def _body(request: Request) -> Json:
    """The request's JSON object, never more of it than MAX_BODY_BYTES."""
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > MAX_BODY_BYTES:
            raise TooLarge(f"a report is at most {MAX_BODY_BYTES} bytes")
        parts.append(part)
    return _json(b"".join(parts))


def _json(text: bytes) -> Json:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise Unreadable(f"expected a JSON object: {error}") from error
    if not isinstance(value, dict):
        raise Unreadable("expected a JSON object")
    return value


def _plain(health: Health) -> Json:
    plain: Json = to_json(health)
    return plain
