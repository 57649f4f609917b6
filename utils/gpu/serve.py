"""The loop of a process that executes jobs: reads a JSON job a line, answers a JSON result a line. See supervisor.py.

A sticky device error ends the process after its answer; the supervisor starts another.
"""
import json
import os
import sys
import time

from driver import DriverError


def serve(make, run, told=()):
    """Answers every job with the dictionary that run(worker, job) returns, the seconds, and its fault if any.
    make: gives the worker; its tell(message) sends what is no answer yet. told: exceptions that speak for themselves; of others the answer has the type as well."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)                                          # whatever else prints must not break the protocol
    worker = make()
    worker.tell = lambda message: print(json.dumps(message), file=answers)
    print(json.dumps({"ready": worker.driver.sm_count}), file=answers)
    for line in sys.stdin:
        start, answer, fatal = time.monotonic(), {}, False
        try:
            answer.update(run(worker, json.loads(line)))
        except told as e:
            answer["fault"] = str(e)
        except DriverError as e:
            answer["fault"], fatal = str(e), e.sticky
        except Exception as e:                             # a fault of the harness is reported, never hidden
            answer["fault"] = f"{type(e).__name__}: {e}"
        answer["seconds"] = round(time.monotonic() - start, 3)
        print(json.dumps(answer), file=answers)
        if fatal:
            answers.flush()
            os._exit(3)                                    # no clean-up: the context is gone
