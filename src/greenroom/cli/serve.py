"""`greenroom serve`: the controller."""

from __future__ import annotations

import signal
import threading
from pathlib import Path

import click


@click.command()
@click.option("--config", "path", type=click.Path(path_type=Path), default="/etc/greenroom/greenroom.toml")
def command(path: Path) -> int:
    """Run the controller: reads the scheduler, gates and recovers nodes, serves the HTTP API.

    SIGHUP reads the configuration anew; SIGTERM and SIGINT stop after the cycle under way.
    """
    import uvicorn

    from greenroom.cli.logs import configure
    from greenroom.controller.config_file import ConfigError
    from greenroom.controller.service import Service
    from greenroom.web.api import build

    service = Service(path)
    configure(service.config.controller.log)
    app = build(
        store=service.store,
        results=service.results,
        rules=service.rules,
        health=lambda: service.loop.health,
        wake=service.wake.set,
    )
    host, port = service.config.address
    server = uvicorn.Server(
        uvicorn.Config(app, host=host, port=port, log_level="warning", access_log=False, workers=1)
    )
    failed: list[str] = []

    def serve() -> None:
        try:
            server.run()
        except SystemExit:  # uvicorn's word for "cannot listen"
            failed.append(f"{path}: controller.listen: cannot listen on {host}:{port}")
        service.end()

    signal.signal(signal.SIGHUP, lambda *_: service.reload())
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: service.end())
    web = threading.Thread(target=serve, name="web", daemon=True)
    web.start()
    service.run()
    server.should_exit = True
    web.join(timeout=10)
    if failed:
        raise ConfigError(failed[0])
    return 0
