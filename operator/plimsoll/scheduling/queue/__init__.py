"""The queue of pending pods: active, backoff, unschedulable and gated.

Active pods wait for their turn, by priority, then by the time they came in or last failed. A pod that was rejected
waits in the unschedulable pool for a change that can help; a pod whose attempt failed for another reason waits out
its backoff. The rules are those of kube-scheduler's ``scheduling_queue.go``. Times are seconds since the epoch,
handed in.
"""

from plimsoll.scheduling.queue.queue import Queue
from plimsoll.scheduling.queue.queued import Place, QueuedPod

__all__ = ["Place", "Queue", "QueuedPod"]
