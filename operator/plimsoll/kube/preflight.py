"""What must be there before anything starts; each thing that is not gets one line that says what to do."""

from __future__ import annotations

import asyncio
import logging
import time

from plimsoll.errors import ApiError, Forbidden, NotFound, SettingsError, Unavailable
from plimsoll.kube.backoff import Backoff
from plimsoll.kube.client import ApiClient
from plimsoll.kube.permissions import Permission, missing
from plimsoll.kube.resources import POLICIES

log = logging.getLogger(__name__)

# What discovery may take; a server that is slower is not reachable for our purposes.
_TIMEOUT_S = 10.0


async def check(client: ApiClient, *, needed: tuple[Permission, ...], patience_s: float) -> None:
    """Returns once the API server answers, has the CRD, and allows what is needed.

    An API server that does not answer is asked again for ``patience_s``: it may be starting, too.

    Raises:
        SettingsError: one line that says what is missing and what to do.
    """
    backoff = Backoff(initial_s=0.5)
    give_up_s = time.monotonic() + patience_s
    while True:
        try:
            return await _check_once(client, needed)
        except Unavailable as error:
            if time.monotonic() >= give_up_s:
                raise SettingsError(_unreachable(client, error)) from error
            log.warning("%s; trying again", _unreachable(client, error))
            wait_s = backoff.next_s(at_least_s=error.retry_after_s)
            await asyncio.sleep(min(wait_s, max(give_up_s - time.monotonic(), 0.0)))


async def crd_present(client: ApiClient) -> bool:
    """Whether the API server serves SchedulingPolicies.

    Raises:
        ApiError: it cannot be asked.
    """
    try:
        found = await client.get(f"/apis/{POLICIES.group}/{POLICIES.version}", timeout_s=_TIMEOUT_S)
    except NotFound:
        return False
    return any(r.get("name") == POLICIES.plural for r in found.get("resources") or ())


async def wait_for_crd(client: ApiClient) -> None:
    """Until the API server serves SchedulingPolicies; somebody may have taken the CRD away from under us."""
    backoff = Backoff(initial_s=1.0)
    while True:
        try:
            if await crd_present(client):
                return
            log.warning("the CRD of SchedulingPolicies is gone: install it again, pods are placed without policies")
        except ApiError as error:
            log.warning("the API server cannot be asked for the CRD: %s", error)
        await asyncio.sleep(backoff.next_s())


async def _check_once(client: ApiClient, needed: tuple[Permission, ...]) -> None:
    try:
        if not await crd_present(client):
            raise SettingsError(
                f"{client.connection.server} does not know SchedulingPolicies: install the CRD with "
                "`kubectl apply --server-side -f crds/` or the chart helm/plimsoll"
            )
        denied = await missing(client, needed)
    except Unavailable:
        raise
    except Forbidden as error:
        raise SettingsError(
            f"{client.connection} refuses these credentials: {error}: check the kubeconfig's user, "
            "or the service account and its ClusterRoleBinding"
        ) from error
    except ApiError as error:
        raise SettingsError(f"{client.connection} does not answer as an API server does: {error}") from error
    if denied:
        raise SettingsError(
            f"not allowed to {', '.join(map(str, denied))}: install the chart helm/plimsoll, or bind its "
            "ClusterRole and Role to the user that runs Plimsoll"
        )


def _unreachable(client: ApiClient, error: Unavailable) -> str:
    return f"API server {client.connection} cannot be reached: {error}: check the address, and that it runs"
