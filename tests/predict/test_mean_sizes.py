"""The message sizes of a program, as benchmarks count them."""

from __future__ import annotations

from planted_programs import profile_of, program, shape, stream, trace

from bareline.predict.curves.mean_sizes import MeanSize, mean_sizes, sweep_sizes


def test_each_function_that_sends_messages_has_its_mean() -> None:
    profile = profile_of(program(size=65540), 1.0, compute_s=0.5)
    means = {mean.call: mean.bytes for mean in mean_sizes(profile)}
    assert means == {"MPI_Allreduce": 8, "MPI_Isend": 65540, "MPI_Irecv": 65540}
    # In whole elements, both directions once.
    assert sweep_sizes(mean_sizes(profile), 32) == [8, 65536]


def test_a_mean_is_over_calls_and_of_a_collective_for_each_rank() -> None:
    calls = [
        (shape("MPI_Alltoall", "collective", comm_size=4, size=size), 0.0)
        for size in (1024, 1024, 5120)
    ]
    profile = profile_of(trace(*(stream(rank, calls) for rank in range(4))), 1.0, compute_s=0.5)
    (mean,) = mean_sizes(profile)
    assert (mean.call, mean.bytes) == ("MPI_Alltoall", (1024 + 1024 + 5120) / 3 / 4)


def test_of_too_many_sizes_those_with_the_most_time_are_left() -> None:
    means = [MeanSize(f"MPI_{size}", size, 1000 - size) for size in (3, 16, 64, 256)]
    assert sweep_sizes(means, 3) == [8, 16, 64]
    assert sweep_sizes(means, 32) == [8, 16, 64, 256]
