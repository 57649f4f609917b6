"""Tests of utils/bench without a GPU: problems, configurations, choices, supervision, tables and the plot."""
import contextlib
import io
import json
import os
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree as ElementTree

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
sys.path[:0] = [os.path.join(ROOT, "utils", "gpu"), HERE]

import bench_peers
import bench_plot
import bench_report
import bench_results
import bench_shapes
import fake_torch
import measure
from supervisor import WorkerProcess

STAND_IN = os.path.join(HERE, "bench_peer.py")


def row(peer, single, sustained=None, **more):
    return dict(dict(peer=peer, config="one", single=single, sustained=sustained or single, error=1e-3,
                     clocks=dict(sm=1755, memory=3201, watts=650)), **more)


def result(name="gemm bf16 NT 4096x4096x4096", *rows, **more):
    return dict(dict(set="gemm", name=name, dtype="bf16", sizes={}, distribution="random normal", work=2e9, unit="TFLOP/s",
                     rows=list(rows), faults=[]), **more)


def run_of(*results):
    versions = {"cuBLAS": "cuBLASLt 130001", "Triton": "Triton 3.6.0", "read": "Triton 3.6.0",
                "TileLang": "not there: ModuleNotFoundError"}
    return dict(results=list(results), facts=dict(
        date="2026-11-30", device="NVIDIA H200", driver="580", cuda="13.0", pytorch="2.11", versions=versions, quick=False,
        highest_clocks=dict(sm=1980), regimes=dict(single="median", sustained="blocks")))


class Problems(unittest.TestCase):
    def setUp(self):
        self.specs = bench_shapes.problems()

    def test_names_are_unique_and_the_important_come_first(self):
        self.assertEqual(len({s.name for s in self.specs}), len(self.specs))
        self.assertEqual([s.rank for s in self.specs], sorted(s.rank for s in self.specs))
        self.assertTrue(all(s.set in bench_shapes.SETS and s.work > 0 for s in self.specs))

    def test_every_family_is_built(self):
        with open(os.path.join(ROOT, "utils", "bench")) as f:
            source = f.read().split('if __name__')[0].replace("__file__", repr(os.path.join(ROOT, "utils", "bench")))
        names = {}
        exec(source, names)
        self.assertEqual({s.family for s in self.specs} - set(names["BUILDS"]), set())

    def test_patterns_name_sets_names_and_kernels(self):
        few = bench_shapes.problems(["few rows"])
        self.assertEqual(len(few), 16)
        causal = bench_shapes.problems(["attention+causal+D64"])
        self.assertEqual({(s.sizes["size"], s.sizes["causal"]) for s in causal}, {(64, True)})
        self.assertEqual(bench_shapes.problems(["nothing of the kind"]), [])
        self.assertTrue(all(s.rank == 1 for s in bench_shapes.problems(rank=1)))

    def test_work_of_attention(self):
        self.assertEqual(bench_shapes.visible(1000, 3333, False), 3333000)
        self.assertEqual(bench_shapes.visible(1024, 1024, True), 1024 * 1024 / 2)
        self.assertEqual(bench_shapes.visible(2048, 1024, True), 1024 * 1024 / 2 + 1024 * 1024)
        full = bench_shapes.attention(128, 4096, False, 1)
        self.assertEqual(full.work, 4 * 4 * 16 * 4096 * 4096 * 128)


class Configurations(unittest.TestCase):
    def test_labels_are_unique(self):
        for spec in bench_shapes.problems():
            for peer, found in bench_peers.configurations(spec).items():
                self.assertIn(peer, bench_peers.MODULES)
                labels = [bench_peers.label(c) for c in found]
                self.assertEqual(len(set(labels)), len(labels), (spec.name, peer))

    def test_peers_of_a_problem(self):
        peers = {s.name: set(bench_peers.configurations(s)) for s in bench_shapes.problems()}
        self.assertEqual(peers["gemm bf16 NT 4096x4096x4096"], {"cuBLAS", "TileLang", "CUDA Tile", "Triton"})
        self.assertIn("read", peers["few rows bf16 NT 16x28672x8192"])
        self.assertIn("cuDNN", peers["attention B4 H16 HK4 S4096 D128 full"])
        self.assertLessEqual({"copy", "torch", "inductor", "Triton"}, peers["softmax bf16 8192x8192"])

    def test_odd_rows_have_no_descriptors(self):
        forms = {s.name: {c[0] for c in bench_peers.triton_products(s)} for s in bench_shapes.problems(["gemm"])}
        self.assertEqual(forms["gemm bf16 NT 4095x4097x4104"], {"descriptors"})
        self.assertEqual(forms["gemm bf16 NN 4095x4097x4104"], {"pointers"})

    def test_images_of_cuda_tile(self):
        builds = [dict(name="p", kind="gemm", tile=[128, 256, 64], aligned=True),
                  dict(name="r", kind="gemm", tile=[128, 256, 64], aligned=False),
                  dict(name="f", kind="gemm", tile=[64, 64, 128], aligned=True),
                  dict(name="a", kind="attention", tile=[128, 128], size=128, causal=True),
                  dict(name="s", kind="softmax", tile=[1], columns=8192)]
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(os.path.join(folder, "cutile"))
            with open(os.path.join(folder, "cutile", "manifest.json"), "w") as f:
                json.dump(dict(version="1", builds=builds), f)
            os.environ[bench_peers.PEERS_FOLDER] = folder
            self.addCleanup(os.environ.pop, bench_peers.PEERS_FOLDER)
            specs = {s.name: s for s in bench_shapes.problems()}
            found = lambda name: [c[0] for c in bench_peers.cutile(specs[name])]
            self.assertEqual(found("gemm bf16 NT 4096x4096x4096"), ["p"])
            self.assertEqual(found("gemm bf16 NN 4096x4096x4096"), [])
            self.assertEqual(found("gemm bf16 NT 4095x4097x4104"), ["r"])
            self.assertEqual(found("gemm bf16 NT 64x8192x8192"), ["f"])
            self.assertEqual(found("attention B4 H16 S4096 D128 causal"), ["a"])
            self.assertEqual(found("attention B16 H16 S1000 T3333 D128 full"), [])
            self.assertEqual(found("softmax bf16 8192x8192"), ["s"])
            self.assertEqual(found("softmax bf16 32768x4096"), [])


class Results(unittest.TestCase):
    def test_heats_keep_what_is_near_the_best_of_each_peer(self):
        heats = {("a", 1): 1.0, ("a", 2): 1.04, ("a", 3): 1.2, ("b", 1): 9.0, ("a", 4): 1.01, ("a", 5): 1.02}
        self.assertEqual(bench_results.survivors(heats), [("a", 1), ("a", 4), ("a", 5), ("b", 1)])

    def test_middle_leaves_out_what_is_unknown(self):
        self.assertEqual(bench_results.middle([dict(sm=1, w=None), dict(sm=3, w=None), dict(sm=2, w=None)]),
                         dict(sm=2, w=None))
        self.assertEqual(bench_results.middle([]), {})

    def test_ratios_are_ours_by_theirs(self):
        r = result("x", row("tilec", 1.0, 2.0), row("cuBLAS", 1.5, 1.0), dict(peer="TileLang", fault="not there: no module"))
        self.assertEqual(bench_results.ratio(r, "cuBLAS"), 1.5)
        self.assertEqual(bench_results.ratio(r, "cuBLAS", "sustained"), 0.5)
        self.assertIsNone(bench_results.ratio(r, "TileLang"))
        self.assertEqual(bench_results.cell(r, "TileLang"), "not there")
        self.assertEqual(bench_results.cell(r, "Triton"), "")
        self.assertEqual(bench_results.rate(r, bench_results.row_of(r, "tilec")), 2.0)

    def test_flash_attention_3_goes_by_way_of_cudnn(self):
        r = result("x", row("tilec", 1.0, 2.0), row("cuDNN", 1.0, 3.0), dict(peer="FA3", beside=0.5))
        self.assertEqual(bench_results.ratio(r, "FA3"), 0.75)
        r["rows"].pop()
        self.assertIsNone(bench_results.ratio(r, "FA3"))

    def test_later_runs_count_unless_they_lack_ours(self):
        old, new = result("x", row("tilec", 1.0)), result("x", row("tilec", 2.0))
        broken = result("x", dict(peer="tilec", fault="hung"))
        self.assertEqual(bench_results.merged([run_of(old), run_of(new), run_of(broken)]), [new])

    def test_the_table_names_faults(self):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            bench_results.show([result("x", row("tilec", 1.0), row("cuBLAS", 1.1), dict(peer="Triton", fault="wrong: 0.3"),
                                       dict(peer="TileLang", fault="not there: no module"))])
        text = out.getvalue()
        for word in ("1.100", "wrong", "not there", "geometric mean", "x: Triton"):
            self.assertIn(word, text)
        self.assertNotIn("x: TileLang", text)


class Timing(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.device = fake_torch.install()
        cls.addClassCleanup(lambda: [sys.modules.pop(m, None) for m in ("torch", "bench_timing")])
        import bench_timing
        bench_timing.time = cls.device.time()
        cls.timing = bench_timing

    def setUp(self):
        self.device.log.clear()
        self.device.holds.clear()
        self.told = []
        self.timer = self.timing.Timer(lambda candidate, seconds: self.told.append(candidate), True)

    def test_a_slow_host_gets_a_longer_hold(self):
        for host, holds in ((1e-5, 1), (8e-4, 2), (1e-1, 3)):
            self.device.holds.clear()
            self.assertEqual(self.timer.once(self.device.kernel("x", 0.5, host)), 0.5)
            self.assertEqual(self.device.holds, list(self.timing.HOLDS[:holds]))

    def test_the_best_configuration_of_each_peer_runs_sustained(self):
        candidates = {("tilec", "a"): 1.0, ("cuBLAS", "a"): 3.0, ("cuBLAS", "b"): 2.0, ("cuBLAS", "c"): 2.05}
        found = self.timer.duel({c: self.device.kernel(c, t) for c, t in candidates.items()})
        self.assertEqual({c: f["single"] for c, f in found.items()}, {("tilec", "a"): 1.0, ("cuBLAS", "b"): 2.0})
        self.assertEqual({c: f["sustained"] for c, f in found.items()}, {("tilec", "a"): 1.0, ("cuBLAS", "b"): 2.0})
        log = self.device.log
        self.assertEqual(log.count(("cuBLAS", "a")), self.timing.HEATS)
        self.assertTrue(all(log[i - 1] == "flush" for i, x in enumerate(log) if x != "flush"))
        self.assertEqual(set(self.told), set(candidates))

    def test_nothing_to_measure(self):
        self.assertEqual(self.timer.duel({}), {})


class Supervision(unittest.TestCase):
    def session(self):
        session = measure.Session(None, lambda: WorkerProcess(ROOT, script=STAND_IN))
        self.addCleanup(session.close)
        return session

    def measure(self, name, known=()):
        answer = self.session().measure(dict(case=name), known)
        return {r["peer"]: r.get("fault", "measured") for r in answer["rows"]}

    def test_all_are_measured(self):
        self.assertEqual(set(self.measure("works").values()), {"measured"})

    def test_a_hang_costs_one_configuration(self):
        begin = time.monotonic()
        self.assertEqual(self.measure("hangs"), dict(tilec="measured", Triton="measured", TileLang="hung"))
        self.assertLess(time.monotonic() - begin, 30)

    def test_a_death_costs_one_configuration_and_leaves_its_last_words(self):
        found = self.measure("dies")
        self.assertEqual((found["tilec"], found["Triton"]), ("measured", "measured"))
        self.assertEqual(found["TileLang"], "the process died: an illegal address")

    def test_an_import_that_ends_the_process_leaves_the_peer_out(self):
        session = self.session()
        self.assertEqual(session.facts()["device"], "a card")
        self.assertEqual([(f["peer"], f["config"]) for f in session.absent], [("TileLang", "import")])
        rows = session.measure(dict(case="works"))["rows"]
        self.assertEqual({r["peer"] for r in rows}, {"tilec", "TileLang", "Triton"})

    def test_what_did_not_compile_is_left_out(self):
        found = self.measure("hangs", [dict(peer="TileLang", config="slow", fault="compiling: error")])
        self.assertEqual(found["TileLang"], "compiling: error")

    def test_a_peer_with_faults_alone_has_a_row_that_says_so(self):
        fault = dict(peer="TileLang", config="a", fault="wrong")
        merged = measure.merge(dict(rows=[row("tilec", 1.0)], faults=[fault, dict(fault, peer="tilec")]),
                               [dict(fault, config="b", fault="hung")])
        self.assertEqual([(r["peer"], r.get("fault")) for r in merged["rows"]], [("tilec", None), ("TileLang", "wrong")])
        self.assertEqual(len(merged["faults"]), 3)

    def test_a_fault_of_the_problem_is_reported_as_ours(self):
        self.assertEqual(self.measure("fails"), dict(tilec="no memory"))

    def test_a_process_that_does_not_start(self):
        def fail():
            raise RuntimeError("the worker does not start: no device")
        answer = measure.Session(None, fail).measure(dict(case="works"))
        self.assertIn("no device", answer["rows"][0]["fault"])

    def test_compilation_ahead(self):
        specs = bench_shapes.problems(["memory: softmax bf16 8192x8192 softmax"])[:1]
        ahead = measure.Ahead(specs, ["Triton"], time.monotonic() + 60, None, STAND_IN)
        found = ahead.wait(specs[0].name, time.monotonic() + 60)
        self.assertEqual([(f["peer"], f["config"], f["fault"]) for f in found],
                         [("Triton", "4", "compiling: does not compile")])


class Report(unittest.TestCase):
    def setUp(self):
        faults = [dict(peer="Triton", config="4", fault="wrong: a | b")]
        self.runs = [run_of(
            result("gemm bf16 NT 4096x4096x4096", row("tilec", 1.0, 1.1, variant="gemm__inputs"), row("cuBLAS", 1.2),
                   row("Triton", 9.0), dict(peer="TileLang", fault="not there: no module"), faults=faults),
            result("rms_norm bf16 8x8 <odd & \"even\">", row("tilec", 1.0), row("copy", 0.2), set="memory", unit="GB/s"),
            result("attention", row("tilec", 1.0), row("cuDNN", 1.1), set="attention"),
            result("softmax bf16 1x1", dict(peer="tilec", fault="hung"), row("copy", 1.0), set="memory", unit="GB/s"))]
        self.runs[0]["results"].append(
            result("few rows", row("tilec", 0.5), row("read", 0.4), set="few rows", sizes=dict(n=10000, k=50000)))
        self.runs[0]["results"][2]["rows"].append(
            dict(peer="FA3", beside=0.9, vendor_there=1.0, sustained_there=0.9, error=1e-3))

    def test_markdown(self):
        text = bench_report.markdown(self.runs)
        for part in ("| gemm bf16 NT 4096x4096x4096 | 2 | 1755 | 1.200 / 1.091 | not there |", "random normal", "driver 580",
                     "Triton 3.6.0", "Not there: TileLang", "at most 1980 MHz", "gemm__inputs", "wrong: a / b",
                     "| softmax bf16 1x1 | hung |", "0.990",
                     "| few rows | 4 | 1755 | 2000 | 2500 | 0.800 / 0.800 |"):
            self.assertIn(part, text)
        for block in text.split("\n\n"):
            lines = [l for l in block.splitlines() if l.startswith("|")]
            self.assertEqual(len({l.count("|") for l in lines}), 1 if lines else 0, block)

    def test_plot_is_well_formed_and_has_a_mark_for_each_ratio(self):
        root = ElementTree.fromstring(bench_plot.svg(bench_results.merged(self.runs)))
        tag = lambda name: "{http://www.w3.org/2000/svg}" + name
        titles = [t.text for t in root.iter(tag("title"))]
        self.assertEqual(len(titles), 6)
        self.assertEqual(len(list(root.iter(tag("path")))), 2)            # 9 and 0.2 lie outside
        self.assertEqual(bench_plot.across(1e9), bench_plot.across(bench_plot.HIGHEST))
        self.assertLess(bench_plot.across(0.9), bench_plot.across(1.1))

    def test_files(self):
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
            path = os.path.join(folder, "r.json")
            with open(path, "w") as f:
                json.dump(self.runs[0], f)
            bench_report.write([path], os.path.join(folder, "out"))
            self.assertEqual(sorted(os.listdir(os.path.join(folder, "out"))),
                             sorted([bench_report.TABLES, bench_report.PLOT]))


if __name__ == "__main__":
    unittest.main()
