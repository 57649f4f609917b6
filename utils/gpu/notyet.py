"""The list of cases that do not pass a stage yet, and what it makes of a result."""
STAGES = ("check", "compile", "interpret", "simulate", "sm_80", "sm_90a")


class NotYet:
    """not-yet.txt: lines `CASE STAGE[,STAGE...] reason`; a case that starts to pass a stage must leave the list."""

    def __init__(self, path):
        self.entries = {}
        with open(path) as f:
            lines = f.readlines()
        for number, line in enumerate(lines, 1):
            line = line.split("#")[0].strip()
            if not line:
                continue
            parts = line.split(None, 2)
            stages = parts[1].split(",") if len(parts) == 3 else []
            if len(parts) != 3 or not set(stages) <= set(STAGES):
                raise SystemExit(f"{path}:{number}: expected `CASE STAGE[,STAGE...] reason`, stages are {STAGES}")
            for s in stages:
                if (parts[0], s) in self.entries:
                    raise SystemExit(f"{path}:{number}: {parts[0]} {s} is listed twice")
                self.entries[parts[0], s] = parts[2]

    def reason(self, case, stage):
        """Why the case does not pass the stage yet; a case that does not compile passes no later one either."""
        own = self.entries.get((case, stage))
        return own or (self.entries.get((case, "compile")) if stage not in ("check", "compile") else None)

    def verdict(self, case, stage, fault):
        """(word, detail) of a result: pass, FAIL, not yet, or PASSES (listed, but passes)."""
        reason = self.reason(case, stage)
        if fault is None:
            listed = (case, stage) in self.entries
            return ("PASSES", "remove it from not-yet.txt") if listed else ("pass", "")
        return ("not yet", reason) if reason else ("FAIL", fault)
