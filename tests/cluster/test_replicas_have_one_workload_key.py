from __future__ import annotations

from tests.builders import PodBuilder, make_pod


def replica(replica_set: str, template_hash: str) -> PodBuilder:
    return (
        make_pod(namespace="shop")
        .owner("ReplicaSet", replica_set)
        .metadata(labels={"pod-template-hash": template_hash})
    )


def test_old_and_new_pods_of_a_rollout_are_one_workload() -> None:
    old, new = replica("web-5d4f", "5d4f").info(), replica("web-77aa", "77aa").info()
    assert old.workload == new.workload == "shop/ReplicaSet/web"


def test_runs_of_a_cron_job_are_one_workload_and_jobs_by_hand_are_not() -> None:
    runs = {
        make_pod(namespace="shop").owner("Job", f"backup-{minute}").info().workload for minute in (29727840, 29729280)
    }
    assert runs == {"shop/CronJob/backup"}
    assert make_pod(namespace="shop").owner("Job", "backup-2").info().workload == "shop/Job/backup-2"
    assert (
        make_pod(namespace="shop").owner("StatefulSet", "db-29727840").info().workload.startswith("shop/StatefulSet/")
    )


def test_a_replica_set_of_its_own_keeps_its_name() -> None:
    assert make_pod(namespace="shop").owner("ReplicaSet", "web-5d4f").info().workload == "shop/ReplicaSet/web-5d4f"


def test_controllers_of_one_name_but_other_kind_or_namespace_are_others() -> None:
    keys = {
        make_pod(namespace=namespace).owner(kind, "web").info().workload
        for namespace in ("shop", "test")
        for kind in ("Job", "StatefulSet")
    }
    assert len(keys) == 4


def test_an_owner_that_does_not_control_is_none() -> None:
    owned = make_pod("a").metadata(ownerReferences=[{"kind": "Node", "name": "n1"}])
    assert owned.info().workload == make_pod("b").info().workload


def test_bare_pods_are_replicas_where_they_run_and_ask_for_the_same() -> None:
    assert make_pod("a").cpu("1").info().workload == make_pod("b").cpu("1").info().workload
    assert make_pod("a").cpu("1").info().workload != make_pod("b").cpu("2").info().workload
    assert make_pod("a").info().workload != make_pod("a", "other").info().workload
    other_image = make_pod().spec(containers=[{"name": "main", "image": "db"}])
    assert make_pod().info().workload != other_image.info().workload
