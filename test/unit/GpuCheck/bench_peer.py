"""Stands for bench_worker.py in tests: a process that answers jobs, or hangs or dies as the job's name says."""
import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(HERE))), "utils", "gpu"))

from serve import serve


class Device:
    sm_count = 132


class Worker:
    driver = Device()

    def run(self, job):
        if "configuration" in job:             # stands for bench_compile.py
            if job["configuration"][0] == 4:
                raise ValueError("does not compile")
            return {}
        excluded = [tuple(e) for e in job["exclude"]]
        if job.get("facts"):
            return self.facts(excluded)
        rows = []
        for candidate in (("tilec", "default"), ("TileLang", "slow"), ("Triton", "4")):
            if candidate in excluded:
                continue
            self.tell(dict(doing=list(candidate), seconds=2 if candidate[0] == "TileLang" else 30))
            if candidate[0] == "TileLang" and job["case"] == "hangs":
                time.sleep(60)
            if candidate[0] == "TileLang" and job["case"] == "dies":
                self.tell(dict(last_words="an illegal address"))
                os._exit(3)
            rows.append(dict(peer=candidate[0], config=candidate[1], single=1.0, sustained=1.0))
        if job["case"] == "fails":
            raise ValueError("no memory")
        return dict(rows=rows, faults=[])

    def facts(self, excluded):
        if ("TileLang", "import") not in excluded:
            self.tell(dict(doing=["TileLang", "import"], seconds=30))
            os._exit(1)
        return dict(device="a card")


if __name__ == "__main__":
    serve(Worker, Worker.run, told=(ValueError,))
