"""Measures an import and pandas.

`import-driver.py measure COMMAND...` runs a command and prints the processor time of all its processes (s) and the largest sum of their
proportional memory (MB of 1,048,576 bytes), on Linux. `import-driver.py pandas CSV PARQUET` reads a CSV with pandas, writes it as Parquet
and prints the processor time of both calls.
"""

import ctypes
import json
import os
import resource
import subprocess
import sys
import time

SET_CHILD_SUBREAPER = 36
SAMPLE_S = 0.02


def processes(pid):
    yield pid
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children") as children:
                for child in children.read().split():
                    yield from processes(int(child))
    except OSError:
        return


def memory(pid):
    try:
        with open(f"/proc/{pid}/smaps_rollup") as rollup:
            return next(int(line.split()[1]) for line in rollup if line.startswith("Pss:")) / 1024
    except (OSError, StopIteration):
        return 0


def measure(command):
    # Processes whose parent has ended count too.
    ctypes.CDLL(None).prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    peak = 0
    while process.poll() is None:
        peak = max(peak, sum(memory(pid) for pid in processes(process.pid)))
        time.sleep(SAMPLE_S)
    while True:
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            break
    if process.returncode != 0:
        sys.exit(process.returncode)
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {"cpu_s": usage.ru_utime + usage.ru_stime, "peak_mb": peak}


def pandas(csv, parquet):
    import pandas
    import pyarrow  # noqa: F401

    before = time.process_time()
    pandas.read_csv(csv).to_parquet(parquet)
    return {"cpu_s": time.process_time() - before}


print(json.dumps(measure(sys.argv[2:]) if sys.argv[1] == "measure" else pandas(*sys.argv[2:])))
