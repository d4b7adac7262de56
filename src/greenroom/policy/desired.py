"""What the scheduler should show for a node, and the one write that brings it nearer.

Holds are level-triggered: nothing remembers that a drain "was sent". Whatever the scheduler loses
(a crash right after a write, power saving, a timed-out reboot) is written again at the next reading.
"""

from __future__ import annotations

from greenroom.model.nodes import NodeView, Want, Write
from greenroom.model.words import Phase, Standing
from greenroom.policy.state import NodeState


def want(state: NodeState) -> Want:
    """What is wanted of the scheduler in this state."""
    if state.phase is Phase.NEW:
        return Want.LEAVE if state.leaving else Want.HELD
    if state.phase is Phase.IN_SERVICE:
        return Want.FREE
    if state.phase is Phase.CHECKING:
        return Want.QUARANTINED
    return Want.HELD


def gap(state: NodeState, view: NodeView) -> Write | None:
    """The next write, or None if nothing is to be done or nothing may be done.

    What somebody else holds, and what is not answering, is left alone - unless its admin asked us
    for a repair (then the hold is taken over).
    """
    wanted = want(state)
    adopt = view.standing is Standing.FOREIGN and view.asked is not None and state.phase is Phase.RECOVERING
    if wanted is Want.LEAVE or not (
        adopt or view.standing in (Standing.FREE, Standing.HELD, Standing.QUARANTINED)
    ):
        return None
    if wanted.value == view.standing.value:
        return None
    if wanted is Want.QUARANTINED and (view.jobs or view.standing is Standing.FREE):
        wanted = Want.HELD  # drain first; the check waits for the last job to end
        if view.standing is Standing.HELD:
            return None
    reason = state.reason or "held for checks"
    return Write(node=state.node, want=wanted, hold_id=state.hold_id, reason=reason, adopt=adopt)
