from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devcluster.exporter import render
from devcluster.exporter.counter import Counter
from devcluster.exporter.fleet import Fleet
from devcluster.exporter.load import Load

rates = st.floats(min_value=0.0, max_value=1e11)
# Sums of these are exact: a clock does not go on by less than it can tell.
durations_s = st.integers(min_value=0, max_value=64 * 10**5).map(lambda ticks: ticks / 64)


class Clock:
    def __init__(self) -> None:
        self.now_s = 1_000_000.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def fleet(clock: Clock) -> Fleet:
    fleet = Fleet(clock=clock)
    fleet.add({"n1": Load(cpus=2, memory_total_bytes=64e9)})
    return fleet


def shown(fleet: Fleet, name: str = "n1") -> dict[str, float]:
    text = render.node_exporter(fleet[name], now_s=fleet.now_s())
    samples = (line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    return {series: float(value) for series, value in samples}


@given(st.lists(st.tuples(rates, durations_s), max_size=20))
def test_a_counter_is_the_integral_of_its_rate(history: list[tuple[float, float]]) -> None:
    counter, now_s = Counter(0.0), 0.0
    for rate, duration_s in history:
        counter.set_rate(rate, now_s=now_s)
        now_s += duration_s
    assert counter.at(now_s) == pytest.approx(sum(rate * duration_s for rate, duration_s in history))


@given(st.lists(st.tuples(rates, durations_s), max_size=20))
def test_a_counter_never_falls_when_its_rate_changes(history: list[tuple[float, float]]) -> None:
    counter, now_s, last = Counter(0.0), 0.0, 0.0
    for rate, duration_s in history:
        counter.set_rate(rate, now_s=now_s)
        assert counter.at(now_s) >= last
        now_s += duration_s
        last = counter.at(now_s)


def test_a_counter_does_not_fall_when_the_clock_is_set_back() -> None:
    counter = Counter(100.0, rate=5.0, total=7.0)
    assert counter.at(50.0) == 7.0


@pytest.mark.parametrize("rate", [-1.0, float("nan")])
def test_no_counter_runs_backwards(rate: float) -> None:
    with pytest.raises(ValueError, match="0 or more"):
        Counter(0.0).set_rate(rate, now_s=0.0)


def test_a_new_node_is_idle_on_a_ten_gigabit_device(fleet: Fleet, clock: Clock) -> None:
    clock.now_s += 10
    samples = shown(fleet)
    assert samples['node_network_receive_bytes_total{device="eth0"}'] == 0.0
    assert samples['node_network_speed_bytes{device="eth0"}'] == 1.25e9
    assert samples['node_cpu_seconds_total{cpu="1",mode="idle"}'] == 10.0
    assert samples["node_memory_MemTotal_bytes"] == 64e9
    assert samples['node_uname_info{nodename="n1"}'] == 1.0


def test_what_is_set_shows_as_rates(fleet: Fleet, clock: Clock) -> None:
    fleet.change(
        {
            "n1": Load(
                receive_bytes_per_s={"eth0": 5e6},
                transmit_bytes_per_s={"eth0": 2e6},
                cpu_utilisation=0.4,
                memory_used_bytes=16e9,
            )
        }
    )
    clock.now_s += 10
    samples = shown(fleet)
    assert samples['node_network_receive_bytes_total{device="eth0"}'] == 5e7
    assert samples['node_network_transmit_bytes_total{device="eth0"}'] == 2e7
    assert samples['node_cpu_seconds_total{cpu="0",mode="user"}'] == pytest.approx(3.0)
    assert samples['node_cpu_seconds_total{cpu="0",mode="system"}'] == pytest.approx(1.0)
    assert samples['node_cpu_seconds_total{cpu="0",mode="idle"}'] == pytest.approx(6.0)
    assert samples["node_memory_MemAvailable_bytes"] == 48e9


def test_what_is_not_named_stays(fleet: Fleet, clock: Clock) -> None:
    fleet.change({"n1": Load(receive_bytes_per_s={"eth0": 5e6})})
    fleet.change({"n1": Load(transmit_bytes_per_s={"eth1": 1e6})})
    clock.now_s += 1
    samples = shown(fleet)
    assert samples['node_network_receive_bytes_total{device="eth0"}'] == 5e6
    assert samples['node_network_transmit_bytes_total{device="eth1"}'] == 1e6


def test_the_kubelet_tells_the_same_with_timestamps(fleet: Fleet, clock: Clock) -> None:
    fleet.change({"n1": Load(cpu_utilisation=0.5, memory_used_bytes=3e9)})

    def core_seconds() -> float:
        text = render.kubelet_resource_metrics(fleet["n1"], now_s=clock.now_s)
        name, value, sampled_at_ms = text.splitlines()[1].split()
        assert (name, int(sampled_at_ms)) == ("node_cpu_usage_seconds_total", round(clock.now_s * 1000))
        return float(value)

    before = core_seconds()
    clock.now_s += 10
    assert core_seconds() - before == pytest.approx(10 * 0.5 * 2)
    assert before > 0.0


def test_a_reboot_resets_counters_and_keeps_rates(fleet: Fleet, clock: Clock) -> None:
    fleet.change({"n1": Load(receive_bytes_per_s={"eth0": 5e6})})
    clock.now_s += 100
    fleet.reset_counters(["n1"])
    clock.now_s += 1
    assert shown(fleet)['node_network_receive_bytes_total{device="eth0"}'] == 5e6


def test_a_renamed_device_goes_on_counting(fleet: Fleet, clock: Clock) -> None:
    fleet.change({"n1": Load(receive_bytes_per_s={"eth0": 5e6})})
    clock.now_s += 1
    fleet.change({"n1": Load(device_names={"eth0": "ens5"})})
    samples = shown(fleet)
    assert samples['node_network_receive_bytes_total{device="ens5"}'] == 5e6
    assert 'node_network_receive_bytes_total{device="eth0"}' not in samples


def test_values_can_be_no_numbers(fleet: Fleet) -> None:
    fleet.change({"n1": Load(not_a_number=True)})
    assert 'node_network_receive_bytes_total{device="eth0"} NaN' in render.node_exporter(fleet["n1"], now_s=0.0)


def test_a_driver_may_not_know_its_speed(fleet: Fleet) -> None:
    fleet.change({"n1": Load(speed_bytes={"eth0": -125000.0})})
    assert shown(fleet)['node_network_speed_bytes{device="eth0"}'] == -125000.0
    fleet.change({"n1": Load(speed_bytes={"eth0": None})})
    assert 'node_network_speed_bytes{device="eth0"}' not in shown(fleet)


def test_a_device_may_have_any_name(fleet: Fleet) -> None:
    fleet.change({"n1": Load(receive_bytes_per_s={'we"ird\\': 0.0})})
    assert 'node_network_receive_bytes_total{device="we\\"ird\\\\"}' in shown(fleet)


def test_all_or_nothing_is_changed(fleet: Fleet) -> None:
    with pytest.raises(KeyError):
        fleet.change({"n1": Load(memory_used_bytes=1.0), "unknown": Load()})
    assert fleet["n1"].memory_used_bytes == 0.0


def test_addresses_are_not_used_twice(fleet: Fleet) -> None:
    fleet.add({"n2": Load()})
    fleet.remove(["n1"])
    fleet.add({"n3": Load()})
    assert fleet["n2"].address != fleet["n3"].address


def test_counters_go_on_over_a_restart_of_the_process(fleet: Fleet, clock: Clock, tmp_path: Path) -> None:
    fleet.change({"n1": Load(receive_bytes_per_s={"eth0": 5e6}, dark=True)})
    fleet.save(tmp_path / "nodes.json")
    restored = Fleet.load(tmp_path / "nodes.json")
    at_s = clock.now_s + 20
    assert render.node_exporter(restored["n1"], now_s=at_s) == render.node_exporter(fleet["n1"], now_s=at_s)
    assert restored["n1"].dark


def test_a_pods_counters_grow_by_what_it_uses_and_outlive_the_process(
    fleet: Fleet, clock: Clock, tmp_path: Path
) -> None:
    fleet.change({"n1": Load(pods={"default/web": {"cpu_cores": 0.5, "receive_bytes_per_s": 100.0}})})
    clock.now_s += 10
    fleet.save(tmp_path / "nodes.json")
    [pod] = (Fleet.load(tmp_path / "nodes.json")["n1"].pods or {}).values()
    assert (pod.cpu.at(clock.now_s), pod.receive.at(clock.now_s)) == (5.0, 1000.0)
