"""What the ranks of a group tell each other, and what they say when one of them is lost."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from threading import Thread
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor
from torch.distributed import ProcessGroup
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.distributed_c10d import _get_process_group_store

Group = ProcessGroup | DeviceMesh | None
"""The ranks: a process group, a mesh of one dimension, or None for all processes."""

NOTE = 512
"""Bytes in which a rank tells each of the others what it was called with."""

GRACE = 1.0
"""Seconds in which a rank that lives hears that a call has failed, and says so."""


def ranks_of(group: Group) -> ProcessGroup:
    """Return the process group that is meant."""
    if not dist.is_initialized():
        raise ValueError(
            "group: got one before torch.distributed.init_process_group, wanted to be after it"
        )
    if isinstance(group, DeviceMesh):
        if group.ndim != 1:
            raise ValueError(
                f"group: got a mesh of {group.ndim} dimensions, wanted one, such as mesh['name']"
            )
        return group.get_group()
    world = dist.group.WORLD if group is None else group
    assert world is not None  # it is initialized
    return world


def place_in(group: ProcessGroup) -> tuple[int, int]:
    """Return the rank of this process in a group, and the number of ranks."""
    rank = dist.get_rank(group)
    if rank < 0:
        raise ValueError(
            "group: got one that this process does not belong to, wanted one of its ranks"
        )
    return rank, dist.get_world_size(group)


def told_by_all(
    group: ProcessGroup, device: torch.device, **said: Any
) -> list[dict[str, Any]]:
    """Return what every rank says of its call, in the order of the ranks."""
    _, size = place_in(group)
    words = json.dumps(said).encode()
    if len(words) > NOTE:
        raise ValueError(
            f"query: got a call of {len(words)} bytes in words, wanted at most {NOTE}"
        )
    note = torch.zeros(NOTE, dtype=torch.uint8)
    note[: len(words)] = torch.frombuffer(bytearray(words), dtype=torch.uint8)
    notes = [torch.empty_like(note, device=device) for _ in range(size)]
    with all_answer(group):
        dist.all_gather(notes, note.to(device), group=group)
    told = [one.cpu().numpy().tobytes().rstrip(b"\0") for one in notes]
    return [json.loads(one) for one in told]


def check_alike(notes: list[dict[str, Any]], *names: str) -> None:
    """Refuse calls that differ: every rank names the same one, which most ranks differ from."""
    for name in names:
        values = [json.dumps(note[name]) for note in notes]
        usual = Counter(values).most_common(1)[0][0]
        for rank, value in enumerate(values):
            if value != usual:
                raise ValueError(
                    f"{name}: got {value} on rank {rank}, wanted {usual} "
                    f"as on rank {values.index(usual)}"
                )


def check_lengths(
    name: str, lengths: list[int], wanted: list[int], layout: str
) -> None:
    """Refuse a text whose parts are not those that a layout cuts it into."""
    for rank, pair in enumerate(zip(lengths, wanted, strict=True)):
        if pair[0] != pair[1]:
            raise ValueError(
                f"{name}: got {pair[0]} of {sum(lengths)} tokens on rank {rank}, "
                f"wanted {pair[1]} in the layout {layout!r}"
            )


@contextmanager
def all_answer(group: ProcessGroup) -> Iterator[None]:
    """Let what goes wrong between ranks say which of them did not answer.

    All that live are told at once, and the group is of no more use.
    """
    start = time.monotonic()
    try:
        yield
    except RuntimeError as error:
        rank, _ = place_in(group)
        raise RuntimeError(
            f"on rank {rank} of the group: {_roll_call(group, start)}"
        ) from error


def _roll_call(group: ProcessGroup, start: float) -> str:
    """Say which ranks do not come to tell that a call has failed; those that live all do.

    A rank whose neighbour is lost cannot tell it from a neighbour that itself waits for the lost
    one. The store that made the group can be read without either, but it hangs where the rank that
    holds it does: so a thread reads it, which is not waited for.
    """
    rank, size = place_in(group)
    store, missing = _get_process_group_store(group), list(range(size))
    backend = group._get_backend(group._device_types[0])
    seconds = backend.options._timeout.total_seconds()
    end = max(start + seconds, time.monotonic()) + GRACE

    def call() -> None:
        with suppress(RuntimeError):  # whoever holds the store has ended
            failures = store.add(f"failures of {rank}", 1)
            _hang_up(group)
            while missing and time.monotonic() < end:
                for other in tuple(missing):
                    if store.add(f"failures of {other}", 0) >= failures:
                        missing.remove(other)
                time.sleep(0.02)

    caller = Thread(target=call, daemon=True)
    caller.start()
    caller.join(end + GRACE - time.monotonic())
    if 0 in missing and (caller.is_alive() or time.monotonic() < end):
        return "rank 0, which mostly holds the store of the group, is gone or hangs"
    if not missing:
        return "all ranks are there, but what they sent did not fit together"
    named = " and ".join(f"rank {one}" for one in missing)
    return f"{named} did not answer within {seconds:g} s: gone, too slow, or in another call"


def _hang_up(group: ProcessGroup) -> None:
    """Let all who wait for this rank fail now: gloo hangs up on all when one wait is too long."""
    rank, size = place_in(group)
    for other in range(size):
        with suppress(
            RuntimeError
        ):  # it is to fail, and where there is no gloo it does at once
            if other != rank:
                silence = dist.irecv(
                    torch.empty(1), group=group, group_src=other
                )
                assert silence is not None  # this rank belongs to the group
                silence.wait(timedelta(milliseconds=1))


def pass_on(
    group: ProcessGroup, sent: Tensor, received: Tensor, tag: int = 0
) -> list[dist.Work]:
    """Begin to send a tensor to the next rank, and to receive one from the rank before."""
    rank, size = place_in(group)
    ahead, behind = (rank + 1) % size, (rank - 1) % size
    to = dist.P2POp(dist.isend, sent, None, group, tag, ahead)
    of = dist.P2POp(dist.irecv, received, None, group, tag, behind)
    with all_answer(group):
        works: list[dist.Work] = dist.batch_isend_irecv([to, of])
    return works


def wait_for(group: ProcessGroup, works: list[dist.Work]) -> None:
    """Wait until what was begun has come."""
    with all_answer(group):
        for work in works:
            work.wait()
