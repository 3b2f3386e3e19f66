"""Places in words."""

from bareline.vocabulary.place import Place, varying


def test_the_size_of_a_message_comes_before_what_it_is_one_of():
    places = [
        Place("mpi.allreduce", "latency", f"max_bytes={most}", 2, 1, 2, f"size_bytes={size}")
        for most in (65536, 524288)
        for size in (8, 64)
    ]
    telling = varying(places)
    assert places[2].words_of(telling) == "8 B, of sizes up to 512 KiB"
    assert places[2].words_of(["max_bytes", "nodes"]) == "sizes up to 512 KiB, 2 nodes"
