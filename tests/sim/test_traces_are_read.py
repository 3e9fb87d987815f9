"""Traces and recordings are read from files, made up where there is none, and refused with a reason."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from plimsoll.errors import InvalidInput
from plimsoll.sim.recorded import Arrival, Machine, Recorded, read_arrivals, read_machines, read_recorded
from plimsoll.sim.synthetic import synthetic_trace
from plimsoll.sim.trace import read_trace

ARRIVALS = "instance,app_name,creation_time,deletion_time\na,x,,50\nb,y,30,90\nc,x,10,\n"
MACHINES = "sn,cpu_milli,memory_mib\nn1,8000,1024\nn2,96000,2048\n"


def written(folder: Path, text: str) -> Path:
    path = folder / "file.csv"
    path.write_text(text)
    return path


def usage(folder: Path, **arrays: object) -> Path:
    values = np.array([[1000.0, -1, 3000, -1], [500, 500, 500, 500], [-1, -1, -1, 4]], dtype=np.float32)
    usual = {"t0": 0, "step": 300, "vm": [1, 2, 3], "cpu_mhz": values}
    usual |= {name: np.abs(values) for name in ("mem_kb", "rx_kbs", "tx_kbs")}
    np.savez(folder / "usage.npz", **{name: value for name, value in (usual | arrays).items() if value is not None})
    return folder / "usage.npz"


def machines(folder: Path, text: str = "vm,cores,cpu_cap_mhz\n1,2,4000\n2,1,0\n3,1,2000\n") -> Path:
    return written(folder, text)


class TestTraces:
    def test_use_is_in_cores_and_bytes_and_gaps_are_filled(self, tmp_path):
        trace = read_trace(usage(tmp_path), machines(tmp_path))
        assert (trace.machines, trace.slots, trace.step_s) == (1, 4, 300.0), "the others know too little"
        np.testing.assert_allclose(trace.use[0, 0], [0.5, 0.5, 1.5, 1.5])
        np.testing.assert_allclose(trace.use[1, 0], [1000 * 1024, 1024, 3000 * 1024, 1024])
        np.testing.assert_allclose(trace.use[2, 0], [1e6, 1e3, 3e6, 1e3])

    def test_what_is_missing_at_the_begin_is_what_comes_first(self, tmp_path):
        late = np.array([[-1, -1, 7, 8]] * 3, dtype=np.float32)
        trace = read_trace(usage(tmp_path, mem_kb=late), machines(tmp_path))
        np.testing.assert_allclose(trace.use[1, 0] / 1024, [7, 7, 7, 8])

    @pytest.mark.parametrize(
        ("arrays", "problem"),
        [
            ({"rx_kbs": None, "tx_kbs": None}, "it has no array rx_kbs, tx_kbs"),
            ({"step": [1, 2]}, "its arrays cannot be read"),
            ({"mem_kb": np.zeros((3, 5))}, "must be of one shape"),
            ({"vm": [1, 2]}, "must be of one shape"),
            ({"step": 0}, "must be of one shape"),
        ],
        ids=["arrays missing", "two steps", "other shape", "ids missing", "no step"],
    )
    def test_a_file_that_is_no_trace_is_refused_by_name(self, tmp_path, arrays, problem):
        with pytest.raises(InvalidInput, match=problem) as refused:
            read_trace(usage(tmp_path, **arrays), machines(tmp_path))
        assert "usage.npz is no trace" in str(refused.value)

    @pytest.mark.parametrize(
        ("content", "problem"),
        [
            (b"vm,cores\n", "it is text, perhaps the file for --vms"),
            (b"", "it is something else"),
            (b"PK\x03\x04\0\0", "it is something else, or torn"),
        ],
        ids=["text", "empty", "torn"],
    )
    def test_what_is_no_numpy_file_is_refused(self, tmp_path, content, problem):
        path = tmp_path / "given.npz"
        path.write_bytes(content)
        with pytest.raises(InvalidInput, match=f"given.npz is no trace: {problem}") as refused:
            read_trace(path, machines(tmp_path))
        assert "pickle" not in str(refused.value)

    def test_one_array_is_not_a_file_of_arrays(self, tmp_path):
        np.save(tmp_path / "one.npy", np.zeros((3, 4)))
        with pytest.raises(InvalidInput, match=r"one\.npy is no trace: it is something else"):
            read_trace(tmp_path / "one.npy", machines(tmp_path))

    @pytest.mark.parametrize(
        ("text", "problem"),
        [
            ("vm,cores\n1,2\n", "it has no column cpu_cap_mhz; it needs the columns vm, cores, cpu_cap_mhz"),
            ("vm,cores,cpu_cap_mhz\n1,2,3\n1,two,3\n", "line 3: could not convert string to float: 'two'"),
        ],
        ids=["column missing", "no number"],
    )
    def test_machines_that_cannot_be_told_are_refused(self, tmp_path, text, problem):
        with pytest.raises(InvalidInput, match=f"does not tell the machines: {problem}"):
            read_trace(usage(tmp_path), machines(tmp_path, text))

    def test_files_that_were_swapped_are_told_apart(self, tmp_path):
        arrays, table = usage(tmp_path), machines(tmp_path)
        with pytest.raises(InvalidInput, match=r"file\.csv is no trace: it is text, perhaps the file for --vms"):
            read_trace(table, arrays)
        with pytest.raises(InvalidInput, match=r"usage\.npz does not tell the machines: .* perhaps that for --usage"):
            read_trace(arrays, arrays)

    def test_a_trace_without_usable_machines_is_refused(self, tmp_path):
        with pytest.raises(InvalidInput, match="no machine"):
            read_trace(usage(tmp_path), machines(tmp_path, "vm,cores,cpu_cap_mhz\n9,1,1000\n"))


class TestRecordings:
    def test_arrivals_come_by_time_without_what_was_there_before(self, tmp_path):
        found = read_arrivals(written(tmp_path, ARRIVALS))
        assert found == (Arrival("x", 10.0, np.inf), Arrival("y", 30.0, 90.0))

    def test_a_file_may_be_gzipped(self, tmp_path):
        path = tmp_path / "arrivals.csv.gz"
        path.write_bytes(gzip.compress(ARRIVALS.encode()))
        assert len(read_arrivals(path)) == 2

    def test_machines_are_in_cores_and_bytes(self, tmp_path):
        assert read_machines(written(tmp_path, MACHINES)) == (Machine(8.0, 2.0**30), Machine(96.0, 2.0**31))

    def test_what_is_not_given_is_empty(self, tmp_path):
        assert read_recorded() == Recorded()
        assert read_recorded(nodes=written(tmp_path, MACHINES)).arrivals == ()

    @pytest.mark.parametrize(
        ("read", "text", "problem"),
        [
            (read_arrivals, "app_name,creation_time\nx,1\n", "has no column deletion_time: it needs app_name"),
            (read_arrivals, "app_name,creation_time,deletion_time\nx,1,2\nx,soon,3\n", "line 3: could not convert"),
            (read_arrivals, "app_name,creation_time,deletion_time\nx,5,2\n", "line 2: a life from 5 to 2"),
            (read_arrivals, "app_name,creation_time,deletion_time\nx,,2\n", "records no arrival"),
            (read_machines, "cpu_milli\n1\n", "has no column memory_mib"),
            (read_machines, "cpu_milli,memory_mib\n0,1\n", "line 2: 0 milli of CPU and 1 MiB"),
            (read_machines, "cpu_milli,memory_mib\n", "records no machine"),
        ],
        ids=["column", "number", "backwards", "none", "machines' column", "empty machine", "no machine"],
    )
    def test_what_cannot_be_read_is_named(self, tmp_path, read, text, problem):
        with pytest.raises(InvalidInput, match=problem) as refused:
            read(written(tmp_path, text))
        assert "file.csv" in str(refused.value)

    @pytest.mark.parametrize("name", ["none.csv", "none.csv.gz"])
    def test_a_file_that_is_not_there_is_named(self, tmp_path, name):
        with pytest.raises(InvalidInput, match=name):
            read_arrivals(tmp_path / name)

    def test_a_file_that_is_not_gzipped_after_all_is_named(self, tmp_path):
        path = tmp_path / "arrivals.csv.gz"
        path.write_text(ARRIVALS)
        with pytest.raises(InvalidInput, match=r"arrivals.csv.gz"):
            read_arrivals(path)


class TestMadeUpTraces:
    def test_the_same_seed_makes_the_same_trace(self):
        one, same, other = (synthetic_trace(seed).use for seed in (1, 1, 2))
        np.testing.assert_array_equal(one, same)
        assert not np.array_equal(one, other)

    def test_it_is_a_month_in_slots_of_five_minutes(self):
        trace = synthetic_trace(0)
        assert trace.use.shape == (4, 120, 8640)
        assert trace.step_s == 300.0
        assert np.isfinite(trace.use).all()
        assert (trace.use > 0).all()

    def test_few_machines_are_busy_and_most_are_not(self):
        means = np.sort(synthetic_trace(0).use.mean(axis=2), axis=1)
        busiest = means[:, -12:].sum(axis=1) / means.sum(axis=1)
        assert (busiest[[0, 2, 3]] > 0.35).all(), "a tenth of the machines does more than a third of the work"

    def test_days_are_like_each_other_and_hours_are_not(self):
        cpu = synthetic_trace(0).use[0].astype(np.float64)
        by_hour = cpu.reshape(120, 30, 24, 12).mean(axis=3)
        typical = by_hour.mean(axis=1) / cpu.mean(axis=1)[:, None]
        assert np.median(np.ptp(typical, axis=1)) > 0.3

    def test_network_comes_in_bursts(self):
        use = synthetic_trace(0).use.astype(np.float64)
        peaks = np.quantile(use, 0.999, axis=2) / np.median(use, axis=2)
        assert np.median(peaks[2]) > 2 * np.median(peaks[1])
