#!/usr/bin/env python3
"""The commands of PBS, Torque, LSF and Flux as their manuals describe them; not the systems.

One file under several names: ``qsub``, ``qstat``, ``qdel``, ``bsub``, ``bjobs``, ``bkill``,
``flux``; which PBS it is says $QUEUE_SYSTEM. Options that a manual does not name, and values in
another form, are refused as the real commands refuse them. Jobs are files in the folder $QUEUE:
nothing runs by itself; a test lets each job begin.
"""

import json
import os
import re
import shlex
import sys
from pathlib import Path

FOLDER = Path(os.environ["QUEUE"])
#: OpenPBS qsub(1B): letters with and without a value.
PBS_VALUES, PBS_FLAGS = "aAcCejJklmMNopPqrRSuvW", "fhIVzX"
TORQUE_VALUES, TORQUE_FLAGS = "aAbcCdDeFgjJkKlLmMNopPqrStTuvwW", "EfhInVxXz"
TIME = r"\d+:\d\d:\d\d"
PBS_RESOURCES = (
    r"select=\d+(:\w+=\w+)*",
    r"place=(free|pack|scatter|vscatter)(:(excl|exclhost|shared))?",
    f"walltime={TIME}",
    r"filesystems=[\w:]+",
)
TORQUE_RESOURCES = (rf"nodes=\d+(:ppn=\d+)?(,walltime={TIME})?", f"walltime={TIME}")
#: IBM Spectrum LSF 10.1, bsub.
LSF_VALUES = {
    "-J": r"\S+",
    "-n": r"\d+",
    "-R": r".*",
    "-W": r"(\d+:)?\d+",
    "-o": r".+",
    "-e": r".+",
}
LSF_VALUES |= {"-w": r"(done|ended|exit|started)\(\d+\)", "-q": r"\w+", "-P": r"\w+"}
LSF_FLAGS = {"-x", "-r"}
#: flux-batch(1).
FLUX = {"--nodes": r"\d+", "--exclusive": None, "--time-limit": r"\d+(\.\d+)?[smhd]?"}
FLUX |= {"--job-name": r"\S+", "--output": r".+", "--queue": r"\w+"}
FLUX |= {"--dependency": r"(after|afterany|afterok|afternotok):\S+"}


def fail(text, code=1):
    print(text, file=sys.stderr)
    sys.exit(code)


def keep(number, **job):
    """Put a job into the queue; the number counts from 12, as if others were there before."""
    FOLDER.mkdir(exist_ok=True)
    if job["queue"] == "nosuch":
        fail(
            {
                "qsub": "qsub: Unknown queue",
                "bsub": "nosuch: No such queue. Job not submitted.",
            }.get(Path(sys.argv[0]).name, "flux-batch: ERROR: Invalid queue 'nosuch' specified")
        )
    text = json.dumps({"state": "held" if job["after"] else "queued", "code": None, **job})
    (FOLDER / f"{number}.json").write_text(text)


def next_number():
    return 12 + len(list(FOLDER.glob("*.json")))


def job_of(number):
    path = FOLDER / f"{number}.json"
    return json.loads(path.read_text()) if path.exists() else None


def letters(arguments, values, flags):
    """Read options of one letter, whose value may follow at once or as the next word."""
    found, rest = [], list(arguments)
    while rest and rest[0].startswith("-"):
        word = rest.pop(0)
        letter, value = word[1:2], word[2:]
        if letter in flags and not value:
            found.append((letter, ""))
        elif letter in values:
            found.append((letter, value or rest.pop(0)))
        else:
            fail(f"qsub: invalid option -- '{letter}'\nusage: qsub [-a date_time]", 2)
    return found, rest


def qsub(arguments):
    torque = os.environ["QUEUE_SYSTEM"] == "torque"
    both = (TORQUE_VALUES, TORQUE_FLAGS) if torque else (PBS_VALUES, PBS_FLAGS)
    found, rest = letters(arguments, *both)
    options = dict(found)
    for letter, value in found:
        resources = TORQUE_RESOURCES if torque else PBS_RESOURCES
        if letter == "l" and not any(re.fullmatch(one, value) for one in resources):
            fail(f"qsub: Illegal attribute or resource value {value}")
    if [value for letter, value in found if letter == "l" and value.startswith("select")][1:]:
        fail("qsub: Resource may only be given once: select")
    if not re.fullmatch(
        r"[A-Za-z][\w-]{0,14}" if torque else r"[A-Za-z][\w-]{0,229}", options["N"]
    ):
        fail("qsub: illegal -N value")
    if options["j"] not in ("oe", "eo", "n") or options["r"] not in "yn":
        fail("qsub: illegal -j or -r value")
    depend = re.fullmatch(r"depend=(after\w*):([\w.]+)", options.get("W", "depend=after:0"))
    if depend is None:
        fail("qsub: illegal -W value")
    (script,) = rest
    number = next_number()
    text = Path(script).read_text()  # it is copied when the job is submitted
    after = list(depend.groups()) if "W" in options else None
    keep(f"{number}.pbs01", text=text, words=None, after=after, queue=options.get("q"))
    print(f"{number}.pbs01")


def qdel(arguments):
    (number,) = arguments
    end(number, 271, unknown=(f"qdel: Unknown Job Id {number}", 153))


def end(number, code, unknown):
    job = job_of(number)
    if job is None:
        fail(*unknown)
    (FOLDER / f"{number}.json").write_text(json.dumps(job | {"state": "done", "code": code}))


def qstat(arguments):
    torque = os.environ["QUEUE_SYSTEM"] == "torque"
    *options, number = arguments
    job = job_of(number)
    if options != (["-f"] if torque else ["-x", "-f"]):
        fail("usage: qstat [-f [-1]] [-x] [job_identifier...]", 2)
    if job is None:
        fail(f"qstat: Unknown Job Id {number}", 153)
    letter = {"held": "H", "queued": "Q", "running": "R", "done": "C" if torque else "F"}
    print(f"Job Id: {number}\n    Job_Name = bareline-run\n    Job_Owner = me@login")
    print(f"    job_state = {letter[job['state']]}\n    queue = workq\n    server = pbs01")
    if job["state"] == "queued" and not torque:
        print("    comment = Not Running: Insufficient amount of resource: ncpus (R: 64 A: 0 T: ")
        print("\t64)")
    if job["state"] == "done":
        print(f"    {'exit_status' if torque else 'Exit_status'} = {job['code']}")
    print("    Variable_List = PBS_O_HOME=/home/me,PBS_O_LANG=C,\n\tPBS_O_WORKDIR=/home/me\n")


def bsub(arguments):
    options, rest = {}, list(arguments)
    while rest and rest[0].startswith("-"):
        word = rest.pop(0)
        if word in LSF_FLAGS:
            continue
        form = LSF_VALUES.get(word)
        if form is None:
            fail(f"{word}: Illegal option. Job not submitted.", 255)
        options[word] = rest.pop(0)
        if not re.fullmatch(form, options[word]):
            fail(f"Bad argument for option {word}. Job not submitted.", 255)
    if "-o" not in options:
        fail("Returning output by mail is not supported on this cluster.", 255)  # sites refuse it
    number = next_number()
    after = re.fullmatch(r"(\w+)\((\d+)\)", options["-w"]).groups() if "-w" in options else None
    # Its words are joined, and a shell of the node reads them.
    keep(number, text=None, words=" ".join(rest), after=after, queue=options.get("-q"))
    print(f"Job <{number}> is submitted to default queue <normal>.")


def bjobs(arguments):
    *options, number = arguments
    if options != ["-a", "-noheader", "-o", "stat exit_code delimiter='|'"]:
        fail("Usage: bjobs [options] [job_ID ...]", 255)
    job = job_of(number)
    if job is None:
        fail(f"Job <{number}> is not found", 255)
    if job["state"] == "done":
        print(f"EXIT|{job['code']}" if job["code"] else "DONE|-")
    else:
        print({"held": "PEND|-", "queued": "PEND|-", "running": "RUN|-"}[job["state"]])


def bkill(arguments):
    (number,) = arguments
    end(number, 130, unknown=(f"Job <{number}>: No matching job found", 255))
    print(f"Job <{number}> is being terminated")


def flux_cancel(arguments):
    (number,) = arguments
    end(number, 143, unknown=(f"flux-cancel: ERROR: {number}: unknown job", 1))


def flux(arguments):
    {"batch": flux_batch, "jobs": flux_jobs, "cancel": flux_cancel}[arguments[0]](arguments[1:])


def flux_batch(rest):
    options = {}
    while rest and rest[0].startswith("--"):
        name, _, value = rest.pop(0).partition("=")
        if name not in FLUX or (FLUX[name] and not re.fullmatch(FLUX[name], value)):
            fail(f"flux-batch: ERROR: unrecognized arguments: {name}={value}", 2)
        options[name] = value
    (script,) = rest
    number = f"f{next_number()}KHno"  # in a locale without the letter that it is else
    after = options["--dependency"].split(":") if "--dependency" in options else None
    if after and job_of(after[1]) is None:
        fail(f"flux-batch: ERROR: [Errno 2] dependency: {after[1]}: job not found")
    text = Path(script).read_text()
    keep(number, text=text, words=None, after=after, queue=options.get("--queue"))
    print(number)


def flux_jobs(arguments):
    *options, number = arguments
    if options != ["-n", "-o", "{status}"]:
        fail("usage: flux jobs [OPTIONS] [JOBIDS ...]", 2)
    job = job_of(number)
    if job is None:
        fail(f"JobID {number} unknown", 1)
    if job["state"] == "done":
        print("FAILED" if job["code"] else "COMPLETED")
    else:
        print({"held": "DEPEND", "queued": "SCHED", "running": "RUN"}[job["state"]])


def main():
    program = Path(sys.argv[0]).name
    with (FOLDER.parent / "commands").open("a") as file:
        file.write(shlex.join([program, *sys.argv[1:]]) + "\n")
    globals()[program](sys.argv[1:])


if __name__ == "__main__":
    main()
