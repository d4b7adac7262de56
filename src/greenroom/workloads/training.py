"""A small real training: a tiny transformer learns made-up text on all ranks, step by step.

All ranks start from the same weights and each has its own part of the data. What the losses must be, a rank
finds out by itself: the same steps over all parts, on the processor, with nobody. In the end all ranks must
hold the same weights, bit by bit.
"""

from __future__ import annotations

import os
import statistics
import time
from types import ModuleType
from typing import Any

from greenroom.workloads.collective import DEFAULTS as MEETING
from greenroom.workloads.collective import join
from greenroom.workloads.devices import digest
from greenroom.workloads.process import Unable, first_line, say

DEFAULTS: dict[str, Any] = {
    **{
        name: MEETING[name]
        for name in (
            "rank", "world", "address", "backend", "device", "interface", "adapter", "network_only",
            "reach_s", "reply_s", "deadline_s", "seed",
        )
    },
    "way": "ddp",
    "steps": 20,
    "width": 64,
    "layers": 2,
    "length": 32,
    "batch": 4,
}  # fmt: skip
"""``way``: ``ddp`` (each rank has all weights) or ``fsdp`` (each has a part). ``batch``: of each rank."""
RATE = 0.05
WORDS = 64
WARM_STEPS = 2
"""The first steps open connections and choose kernels."""


def run(spec: dict[str, Any]) -> dict[str, Any]:
    """Losses, time of each step and of its own work, and a digest of the weights."""
    if spec["way"] not in ("ddp", "fsdp"):
        raise Unable(f"way: {spec['way']!r}; expected ddp or fsdp")
    torch, device, failed = join(spec)
    if failed:
        return failed
    try:
        return {"reached": True, **_train(torch, device, spec)}
    except Exception as error:  # noqa: BLE001 - a broken connection raises several kinds
        return {"reached": True, "broke": first_line(error)}


def _train(torch: ModuleType, device: Any, spec: dict[str, Any]) -> dict[str, Any]:  # noqa: ANN401
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    torch.use_deterministic_algorithms(mode=True, warn_only=True)
    reference = _alone(torch, spec)
    model = _model(torch, spec).to(device)
    own, gradient = _own_work(torch, model, device, spec)
    _, wanted = _own_work(torch, _model(torch, spec), "cpu", spec, times=1)
    both = _spread(torch, model, device, spec)
    optimizer = torch.optim.SGD(both.parameters(), lr=RATE)
    losses, steps = [], []
    for step in range(int(spec["steps"])):
        _wait(torch, device)
        started = time.perf_counter()
        optimizer.zero_grad()
        loss = _loss(torch, both, _data(torch, spec, step, int(spec["rank"])), device)
        loss.backward()
        optimizer.step()
        total = loss.detach().clone()
        torch.distributed.all_reduce(total)
        _wait(torch, device)
        steps.append(time.perf_counter() - started)
        losses.append(round(float(total.item()) / int(spec["world"]), 6))
        say("progress", step=step + 1, of=spec["steps"], loss=losses[-1])
    same = digest(_weights(torch, model, both, spec))
    torch.distributed.destroy_process_group()
    return {
        "losses": losses,
        "reference": reference,
        "gradient_off": _off(torch, gradient, wanted),
        "weights": same,
        "step_ms": round(statistics.median(steps[WARM_STEPS:] or steps) * 1e3, 3),
        "own_ms": round(statistics.median(own[WARM_STEPS:] or own) * 1e3, 3),
        "device": str(device),
        "torch": torch.__version__,
    }


def _alone(torch: ModuleType, spec: dict[str, Any]) -> list[float]:
    """The losses of the same training by one process that has all the data."""
    model, losses = _model(torch, spec), []
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE)
    for step in range(int(spec["steps"])):
        parts = [_data(torch, spec, step, rank) for rank in range(int(spec["world"]))]
        optimizer.zero_grad()
        loss = _loss(torch, model, tuple(map(torch.cat, zip(*parts, strict=True))), "cpu")
        loss.backward()
        optimizer.step()
        losses.append(round(float(loss.item()), 6))
    return losses


def _own_work(
    torch: ModuleType,
    model: Any,  # noqa: ANN401
    device: Any,  # noqa: ANN401
    spec: dict[str, Any],
    *,
    times: int = 0,
) -> tuple[list[float], Any]:
    """Without the others: seconds of each step, and the gradient.

    In training all ranks go as slow as the slowest, and all are wrong as soon as one is.
    """
    took: list[float] = []
    given = _data(torch, spec, 0, int(spec["rank"]))
    for _ in range(times or max(5, int(spec["steps"]))):
        model.zero_grad()
        _wait(torch, device)
        started = time.perf_counter()
        _loss(torch, model, given, device).backward()
        _wait(torch, device)
        took.append(time.perf_counter() - started)
    gradient = torch.cat([one.grad.flatten() for one in model.parameters()]).cpu()
    model.zero_grad()
    return took, gradient


def _off(torch: ModuleType, gradient: Any, wanted: Any) -> float:  # noqa: ANN401 - tensors
    """Largest distance of a number from what it must be, in parts of the largest; what is no number: 1e9."""
    off = float(((gradient - wanted).abs().max() / wanted.abs().max()).item())
    return min(off, 1e9) if torch.isfinite(gradient).all() else 1e9


def _loss(torch: ModuleType, model: Any, text: Any, device: Any) -> Any:  # noqa: ANN401
    given, wanted = (part.to(device) for part in text)
    return torch.nn.functional.cross_entropy(model(given).flatten(0, 1), wanted.flatten())


def _wait(torch: ModuleType, device: Any) -> None:  # noqa: ANN401
    if torch.device(device).type == "cuda":
        torch.cuda.synchronize(device)


def _model(torch: ModuleType, spec: dict[str, Any]) -> Any:  # noqa: ANN401 - torch.nn.Module
    torch.manual_seed(int(spec["seed"]))
    width = int(spec["width"])
    layer = torch.nn.TransformerEncoderLayer(width, 4, 4 * width, dropout=0.0, batch_first=True)
    return torch.nn.Sequential(
        torch.nn.Embedding(WORDS, width),
        torch.nn.TransformerEncoder(layer, int(spec["layers"]), enable_nested_tensor=False),
        torch.nn.Linear(width, WORDS),
    )


def _spread(torch: ModuleType, model: Any, device: Any, spec: dict[str, Any]) -> Any:  # noqa: ANN401
    if spec["way"] == "ddp":
        ids = [device.index] if device.type == "cuda" else None
        return torch.nn.parallel.DistributedDataParallel(model, device_ids=ids)
    from torch.distributed.device_mesh import init_device_mesh  # noqa: PLC0415
    from torch.distributed.fsdp import fully_shard  # noqa: PLC0415

    mesh = init_device_mesh(device.type, (int(spec["world"]),))
    for layer in model[1].layers:
        fully_shard(layer, mesh=mesh)
    return fully_shard(model, mesh=mesh)


def _data(torch: ModuleType, spec: dict[str, Any], step: int, rank: int) -> tuple[Any, Any]:
    """Words that follow a rule: each is the one before, times 5, plus 7."""
    seed = (int(spec["seed"]) * 1009 + step) * 4096 + rank
    dice = torch.Generator().manual_seed(seed)
    rows = [torch.randint(0, WORDS, (int(spec["batch"]), 1), generator=dice)]
    for _ in range(int(spec["length"])):
        rows.append((rows[-1] * 5 + 7) % WORDS)
    text = torch.cat(rows, dim=1)
    return text[:, :-1], text[:, 1:]


def _weights(torch: ModuleType, model: Any, both: Any, spec: dict[str, Any]) -> Any:  # noqa: ANN401
    """All weights in a row, whole."""
    if spec["way"] == "ddp":
        parts = [one.detach().flatten() for one in model.parameters()]
    else:
        parts = [one.full_tensor().detach().flatten() for one in both.parameters()]
    return torch.cat(parts)
