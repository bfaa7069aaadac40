"""Parts of scripts/gpu-check by themselves: what no run on the shim comes upon."""

import argparse
import array
import math
import os
import pathlib
import sys
import tempfile
import threading
import time
import unittest
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from unittest import mock

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "scripts"))

from gpu_check import build, emit, machine, plan, several, tensors, tokens, tolerances, tools, verdict  # noqa: E402


class Tolerances(unittest.TestCase):
    entry = {"precision": "f32", "sums": [16, 48], "tokens": 64, "parameters": 10000}

    def test_follow_their_formula(self):
        unit = 4 * math.sqrt(2) * 2.0**-24
        self.assertAlmostEqual(tolerances.of_gradients(self.entry), unit * math.sqrt(2 * 64 + 64))
        first, second, third = tolerances.of_losses(self.entry, [2.0, 2.0, 2.0])
        self.assertAlmostEqual(first, 2.0 * unit * (math.sqrt(64 / 64) + math.sqrt(64)))
        self.assertAlmostEqual(second - first, 2 * 1e-3 * 100 * tolerances.of_gradients(self.entry))
        self.assertAlmostEqual(third - second, second - first)

    def test_of_bf16_are_those_of_its_roundings(self):
        entry = {**self.entry, "precision": "bf16"}
        self.assertAlmostEqual(tolerances.of_gradients(entry), 4 * math.sqrt(2) * 2.0**-9 * math.sqrt(5))
        self.assertEqual(tolerances.of_losses(entry, [2.0, 2.0])[1], 2.0 * 2.0**-7)


class Tensors(unittest.TestCase):
    def test_are_read_as_they_were_written(self):
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            means = {"a.exp_avg": array.array("f", [1.5, -2.0]), "b.exp_avg": array.array("f", [0.0])}
            tensors.write(folder / "x.safetensors", {**means, "a": array.array("f", [7.0])})
            self.assertEqual(tensors.first_means(folder), {"a": means["a.exp_avg"], "b": means["b.exp_avg"]})
            self.assertEqual(tensors.shapes(folder)["a.exp_avg"], ("F32", [2]))

    def test_distance_is_of_the_norm(self):
        self.assertEqual(tensors.distance([3.0, 4.0], [3.0, 4.0]), 0)
        self.assertEqual(tensors.distance([3.0, 9.0], [3.0, 4.0]), 1)
        self.assertEqual(tensors.distance([0.0], [0.0]), 0)
        self.assertEqual(tensors.distance([1.0], [0.0]), math.inf)
        self.assertEqual(tensors.distance([math.nan], [1.0]), math.inf)


class Verdict(unittest.TestCase):
    def rows(self, *lines):
        found = verdict.rows({(line["program"], line["check"]): line for line in lines})
        return {name.split(":")[-1].strip(): (value, met) for name, value, _, met in found[1:]}

    def line(self, program, check, **figures):
        return {"program": program, "check": check, "outcome": "passed", **figures}

    def test_is_met_or_missed(self):
        rows = self.rows(self.line("gpt2-124m", "beside_compile", ratio_median=1.3), self.line("gpt2-124m", "throughput", mfu=0.5),
                         self.line("gpt2-124m-epilogues-none", "beside_compile-bf16", ratio_median=1.15),
                         self.line("gpt2-124m", "throughput_searched", mfu=None, run=1, at=600), self.line("x", "losses", run=2, at=1500))
        self.assertEqual(rows["tokens/s over torch.compile"], ("", "not measured (it was not run)"))  # the last one, of the Llama
        self.assertEqual(rows["MFU"], ("0.500", "MISSED"))
        self.assertEqual(rows["minutes of machine time"], ("35.000", "MISSED"))
        compiled = verdict.over_compile(verdict.GPT)
        self.assertEqual(compiled({("gpt2-124m", "beside_compile"): {"outcome": "passed", "ratio_median": 1.3}}), 1.3)

    def test_says_why_nothing_was_measured(self):
        rows = self.rows({"program": "gpt2-124m", "check": "beside_llm.c", "outcome": "skipped", "reason": "no folder of llm.c"},
                         self.line("a", "memcheck"), {"program": "a", "check": "racecheck", "outcome": "failed", "reason": "1 error"},
                         {"program": "a", "check": "initcheck", "outcome": "skipped", "reason": "the budget was spent"})
        self.assertEqual(rows["tokens/s over llm.c"], ("", "not measured (gpt2-124m beside_llm.c skipped: no folder of llm.c)"))
        self.assertEqual(rows["sanitizer finds nothing, share of programs"], ("", "not measured (a initcheck skipped: the budget was spent)"))


class Plan(unittest.TestCase):
    def test_takes_what_fits_in_order(self):
        jobs = [("a", "x", 300), ("a", "y", 400), ("b", "x", 200), ("b", "y", 700)]
        self.assertEqual([[job[2] for job in taken] for taken in plan.slots(jobs, 540)], [[300, 200], [400], [700]])


class Frontend(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name)
        (self.scratch / "bin").mkdir()
        (self.scratch / "bin/braidc").touch()
        self.arguments = argparse.Namespace(build=self.scratch, arch="sm_90", rehearse=False, memory="1GiB", without_cudnn=False)

    def test_missing_is_an_error(self):
        folder = self.scratch / "folder"
        with mock.patch.object(emit, "find_frontend", lambda: None):
            with self.assertRaisesRegex(tools.Failed, "cudnn_frontend.h was not found.*--without-cudnn"):
                emit.Emitter(self.arguments, folder)
            self.assertFalse(folder.exists())
            self.arguments.without_cudnn = True
            words = emit.Emitter(self.arguments, folder).words(["--clip=1.0", "--attention-order=any"])
            self.assertEqual(words, ["--clip=1.0", "--attention=tiles"])

    def test_is_where_the_environment_says(self):
        (self.scratch / "cudnn_frontend.h").touch()
        with mock.patch.dict(os.environ, {"CUDNN_FRONTEND_INCLUDE_DIR": str(self.scratch)}):
            self.assertEqual(emit.find_frontend(), self.scratch)


class Libraries(unittest.TestCase):
    """Of a toolkit that has some, and packages that have the others."""

    def test_of_packages_stand_in_for_missing_ones(self):
        with tempfile.TemporaryDirectory() as scratch:
            root = pathlib.Path(scratch)
            home, packages = root / "toolkit", machine.Packages("false")
            packages.root = root / "packages"
            for path in (home / "bin/nvcc", home / "include/cudnn.h", packages.root / "nvidia/cu13/include/nvrtc.h",
                         packages.root / "nvidia/cublas/include/cublasLt.h", packages.root / "nvidia/cublas/lib/libcublasLt.so.13",
                         packages.root / "nvidia/cudnn/include/cudnn.h"):
                path.parent.mkdir(parents=True, exist_ok=True)
                path.touch()
            words = build.library_words(machine.Nvcc(home / "bin/nvcc", "13.0"), packages, root / "folder")
            self.assertEqual(words[1:], [f"-DNVRTC_INCLUDE_DIR={packages.root}/nvidia/cu13/include",
                                         f"-DCUBLASLT_INCLUDE_DIR={packages.root}/nvidia/cublas/include",
                                         f"-DCUDA_cublasLt_LIBRARY={packages.root}/nvidia/cublas/lib/libcublasLt.so.13"])


class Tokens(unittest.TestCase):
    def test_follow_zipfs_law(self):
        count, vocabulary = 200_000, 1000
        values = array.array("H", tokens.generate(count, vocabulary))
        self.assertLess(max(values), vocabulary)
        often = Counter(values)
        for token in (0, 1, 2, 9, 99):  # log(1 + token) is uniform
            share = math.log((token + 2) / (token + 1)) / math.log(vocabulary + 1)
            self.assertAlmostEqual(often[token] / count / share, 1, delta=0.1, msg=token)


class VisibleGpus(unittest.TestCase):
    def test_are_what_the_driver_sees(self):
        known = {"": [], " ": [], "-1": [], "2": ["2"], "3, 1": ["3", "1"], "0,-1,1": ["0"], ",1": []}
        for text, seen in known.items():
            with mock.patch.dict(os.environ, {"CUDA_VISIBLE_DEVICES": text}):
                self.assertEqual(machine.visible_gpus(), seen, text)
                self.assertEqual(machine.count_gpus(), len(seen), text)
                if not seen:
                    self.assertIsNone(machine.find_gpu(), text)


class Builds(unittest.TestCase):
    def test_of_one_folder_follow_each_other(self):
        now, most, commands = [], [], []

        def run(words, **_):
            now.append(words)
            commands.append(words[1])
            most.append(len(now))
            time.sleep(0.01)
            now.remove(words)

        arguments = argparse.Namespace(build_with=None, jobs=1)
        folder, place = pathlib.Path("folder"), pathlib.Path("place")
        builder = build.Builder(folder, place, arguments, None, mock.Mock(), mock.Mock(), "sm_90")
        with mock.patch.object(tools, "run", run), mock.patch.object(build, "library_words", lambda *_: []):
            with ThreadPoolExecutor(8) as pool:
                list(pool.map(builder.binary, map(str, range(8))))
        self.assertEqual(max(most), 1)
        self.assertEqual(commands, ["-S", *["--build"] * 8])


class Ranks(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.log = pathlib.Path(scratch.name) / "log"
        self.program = mock.Mock(entry={"ranks": 2}, scratch=pathlib.Path(scratch.name))
        self.program.name = "program"
        commands = mock.patch.object(tools, "commands", tools.Commands())
        commands.start()
        self.addCleanup(commands.stop)

    def await_steps(self):
        with several.Ranks(self.program, ["sleep", "60"]) as ranks:
            several.await_steps(ranks, self.log, 3, seconds=60)

    def test_stopped_with_the_run_have_not_failed(self):
        threading.Timer(0.2, tools.commands.stop).start()
        with self.assertRaises(tools.Stopped):
            self.await_steps()

    def test_without_a_budget_have_not_failed(self):
        tools.commands.budget = tools.Budget(0.2)
        with self.assertRaisesRegex(tools.Skipped, "the budget of 0.2 seconds was spent"):
            self.await_steps()

    def test_that_end_by_themselves_have_failed(self):
        with several.Ranks(self.program, ["true"]) as ranks, self.assertRaisesRegex(tools.Failed, "0 of 3 steps"):
            several.await_steps(ranks, self.log, 3, seconds=60)

    def test_end_when_one_cannot_start(self):
        start, started = tools.commands.start, []

        def start_one(*words):
            if started:
                raise tools.Failed("no more")
            started.append(start(*words))
            return started[0]

        with mock.patch.object(tools.commands, "start", start_one), self.assertRaises(tools.Failed):
            several.Ranks(self.program, ["sleep", "60"])
        self.assertIsNotNone(started[0].poll())


if __name__ == "__main__":
    unittest.main()
