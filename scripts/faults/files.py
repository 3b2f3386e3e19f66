"""Files are cut and flipped at random: each file of a run, profiles, studies, platform files."""

from __future__ import annotations

import shutil
from pathlib import Path

from bench import Bench, Witness, judge, lines_of
from table import Count

_ROOT = Path(__file__).resolve().parents[2]
_PIECES = (b"", b"\x00", b"\xff", b"=", b"[", b"]", b'"', b"\n", b"9" * 40, b"-", b"{", b"null")
_READERS = ("status", "show", "compare", "report", "export", "reparse", "continue")


def damaged(bench: Bench, data: bytes) -> bytes:
    """Cut a file, or put something else in place of some bytes."""
    chosen = bench.random
    if not data or chosen.random() < 0.25:
        return data[: chosen.randrange(len(data) + 1)]
    start = chosen.randrange(len(data))
    end = min(len(data), start + chosen.choice((1, 1, 1, 3, 20, 200)))
    if chosen.random() < 0.3:
        return data[:start] + bytes([data[start] ^ (1 << chosen.randrange(8))]) + data[start + 1 :]
    return data[:start] + chosen.choice(_PIECES) + data[end:]


def run_files(bench: Bench, tries: int) -> Count:
    """Damage one file of a run and let a verb read it, or go on with it."""
    count = Count()
    place = bench.room("files")
    whole = bench.make_run(place, 8)
    bench.zygote.killed(["continue", whole], place, 0.05)
    kept = place / "kept"
    shutil.move(whole, kept)
    files = [path.relative_to(kept) for path in sorted(kept.rglob("*")) if path.is_file()]
    files += [path for path in files if path.parent == Path()] * 4
    for _ in range(tries):
        run = place / "run"
        shutil.rmtree(run, ignore_errors=True)
        shutil.copytree(kept, run)
        file = run / bench.random.choice(files)
        file.write_bytes(damaged(bench, file.read_bytes()))
        verb = bench.random.choice(_READERS)
        more = {"report": ["--out", "page.html"], "export": ["--out", "samples.csv"]}.get(verb, [])
        before = lines_of(run)
        ended = bench.zygote.run([verb, run, *more], place)
        count.tries += 1
        judge(count, ended, f"{verb} with {file.relative_to(run)} damaged")
        if verb == "continue" and ended.code in (0, 3):
            after = lines_of(run)
            if after[: len(before)] != before:
                count.lost += 1
            Witness(run, count).look()
    return count


def studies(bench: Bench, tries: int) -> Count:
    """Damage a study of the catalogue and ask for its plan."""
    return _texts(bench, tries, "studies", sorted((_ROOT / "src/bareline/studies").glob("*.toml")))


def platforms(bench: Bench, tries: int) -> Count:
    """Damage a platform file and list what it holds."""
    return _texts(bench, tries, "platforms", [_ROOT / "src/bareline/platforms/builtin.toml"])


def _texts(bench: Bench, tries: int, name: str, sources: list[Path]) -> Count:
    count = Count()
    place = bench.room(name)
    (place / "p.toml").write_text('[platform.a]\ntype = "null"\n')
    file = place / "damaged.toml"
    for _ in range(tries):
        data = bench.random.choice(sources).read_bytes()
        for _ in range(bench.random.choice((1, 1, 2, 5))):
            data = damaged(bench, data)
        file.write_bytes(data)
        if name == "studies":
            argv = ["run", file, "--on", "a", "--platforms", "p.toml", "--dry-run", "--json"]
        else:
            argv = ["platforms", "--platforms", file, "--json"]
        count.tries += 1
        judge(count, bench.zygote.run(argv, place), f"{name}, try {count.tries}")
    return count


def profiles(bench: Bench, tries: int) -> Count:
    """Damage a profile, or the journal of one, and show it."""
    count = Count()
    place = bench.room("profiles")
    program = place / "hello"
    source = place / "hello.c"
    source.write_text(
        "#include <mpi.h>\nint main(int c, char **v) { int r; MPI_Init(&c, &v);\n"
        "MPI_Comm_rank(MPI_COMM_WORLD, &r); MPI_Barrier(MPI_COMM_WORLD); MPI_Finalize(); }\n"
    )
    import subprocess

    subprocess.run(["mpicc", "-o", program, source], check=True, capture_output=True)
    made = bench.zygote.run(
        ["profile", "-o", "app.profile", "--", "mpirun", "--oversubscribe", "-np", "2", program],
        place,
        env={"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"},
    )
    if not (place / "app.profile").exists():
        raise SystemExit(f"faults: no profile could be made: {made.said}")
    data = (place / "app.profile").read_bytes()
    for _ in range(tries):
        (place / "damaged.profile").write_bytes(damaged(bench, data))
        argv = ["show", "damaged.profile"]
        if bench.random.random() < 0.3:
            argv = ["report", "damaged.profile"]
        count.tries += 1
        judge(count, bench.zygote.run(argv, place), f"profile, try {count.tries}")
    return count
