"""One controller process: configuration, keys, store, loop; reload on SIGHUP, graceful stop."""

from __future__ import annotations

import fcntl
import os
import secrets
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO

import structlog

from greenroom.controller.config import load, providers
from greenroom.controller.config_file import ConfigError
from greenroom.controller.effects import Effects, Tools
from greenroom.controller.gate import Gate
from greenroom.controller.loop import Loop
from greenroom.controller.results import Keys, Results
from greenroom.model.admission import token
from greenroom.model.nodes import CheckJob, NodeView
from greenroom.policy.events import Launch
from greenroom.policy.rules import Rules
from greenroom.schedulers import open_scheduler
from greenroom.store import Store, open_store

log = structlog.get_logger("greenroom.service")


class Service:
    """Everything but HTTP and signals, which `greenroom serve` adds."""

    def __init__(self, path: Path) -> None:
        """Read the configuration and open everything. Raises ConfigError."""
        self.path = path
        self.config = load(path)
        state_dir = Path(self.config.controller.state_dir)
        try:
            state_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise ConfigError(f"{path}: controller.state_dir: {state_dir}: {error.strerror}") from error
        self._lock = _only_one(state_dir / "controller.lock")
        self.store: Store = open_store(self.config.store_url)
        named = self.config.controller.admission_key_file
        self.keys = Keys(
            secret=_key(state_dir / "controller.key"),
            admission=_key(Path(named) if named else state_dir / "admission.key"),
        )
        self.stop, self.wake = threading.Event(), threading.Event()
        self._reload = threading.Event()
        self._pool = ThreadPoolExecutor(max_workers=8, thread_name_prefix="repair")
        self.gate = Gate(self.store, self.rules, time.time)
        self._effects = Effects(self.gate, self._tools(), time.time, self._pool)
        self.loop = Loop(self.gate, self._effects, self.rules, time.time)
        self.results = Results(self.gate, self.keys, time.time)

    def rules(self) -> Rules:
        """The rules in force now."""
        return self.config.rules

    def reload(self) -> None:
        """Take the file anew before the next cycle; safe to call from a signal handler."""
        self._reload.set()
        self.wake.set()

    def _reload_if_asked(self) -> None:
        """A wrong file is reported and the old rules stay."""
        if not self._reload.is_set():
            return
        self._reload.clear()
        try:
            fresh = load(self.path)
        except ConfigError as error:
            log.error("configuration not reloaded, the old one stays", why=str(error))  # noqa: TRY400
            return
        for name in ("listen", "state_dir", "store", "admission_key_file"):
            if getattr(fresh.controller, name) != getattr(self.config.controller, name):
                log.warning("takes effect after a restart", key=f"controller.{name}")
        self.config = fresh
        self._effects.tools = self._tools()
        log.info("configuration reloaded", path=str(self.path))

    def run(self) -> None:
        """The loop, until ``stop`` is set; then what is under way is finished and all is closed."""
        log.info("controller started", config=str(self.path), store=self.config.store_url.split("@")[-1])
        try:
            self.loop.run(self.stop, self.wake, lambda: self.config.controller.poll_s, self._reload_if_asked)
        finally:
            self._pool.shutdown(wait=True, cancel_futures=True)
            self.store.close()
            self._lock.close()
            log.info("controller stopped")

    def end(self) -> None:
        """Stop after the cycle under way."""
        self.stop.set()
        self.wake.set()

    def _tools(self) -> Tools:
        section = self.config.scheduler
        try:
            scheduler = open_scheduler(section.kind, section.slurm)
        except ValueError as error:
            raise ConfigError(f"{self.path}: [scheduler]: {error}") from error
        return Tools(
            scheduler=scheduler, providers=providers(self.config, scheduler), check_job=self._check_job
        )

    def _check_job(self, action: Launch, view: NodeView) -> CheckJob:
        """The check as a job: its token travels in the environment, not in the arguments."""
        config = self.config
        argv = (
            *config.check.command,
            "check",
            "--json",
            *("--profile", action.profile),
            *("--run-id", action.run_id),
            *("--node", view.name),
            *("--report-to", config.url),
            *("--since", f"{action.since:.0f}"),
            *("--reset-at", f"{action.reset_at:.0f}"),
            *("--expect-gpus", str(view.gpus)),
            *config.check.arguments,
        )
        env = {**config.check.env, "GREENROOM_RUN_TOKEN": token(self.keys.secret, action.run_id)}
        timeout_s = config.rules.profile_time_s[action.profile] + config.gate.run_grace_s
        return CheckJob(
            run_id=action.run_id, node=view.name, argv=argv, env=tuple(env.items()), timeout_s=timeout_s
        )


def _key(path: Path) -> bytes:
    """The key in a file, made at the first start (mode 0600)."""
    try:
        if not path.exists():
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "w") as file:
                file.write(secrets.token_hex(32) + "\n")
        text = path.read_text(encoding="ascii").strip()
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from error
    if len(text) < 32:
        raise ConfigError(f"{path}: expected a key of at least 32 characters")
    return text.encode()


def _only_one(path: Path) -> IO[str]:
    """Keep a second controller from the same state directory."""
    file = path.open("w")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        raise ConfigError(f"{path}: another controller is running on this state directory") from None
    return file
