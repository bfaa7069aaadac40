"""Tests parts of scripts/gpu-visit that no dry run reaches."""

import array
import json
import math
import os
import pathlib
import sys
import tempfile
import time
import unittest
from collections import Counter
from unittest import mock

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "scripts"))

from gpu_visit import build, dry_run, emit, explain, machine, output, pack, results, sanitizer, steps, tensors, tokens, tolerances, tools, verdict, visit, wide, wide_checks, wide_emit  # noqa: E402


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


    def test_of_bf16_allow_what_roundings_make_of_a_gradient(self):
        entry = {**self.entry, "precision": "bf16", "roundings": {"q": 0.3, "v": 0.001}}
        self.assertEqual(tolerances.of_gradient(entry, "q"), 0.6)
        self.assertEqual(tolerances.of_gradient(entry, "v"), tolerances.of_gradients(entry))


    def test_of_rounded_states_allow_what_the_rounding_changes(self):
        first, second, _ = tolerances.of_losses({**self.entry, "state_rounding": 0.5}, [2.0, 2.0, 2.0])
        self.assertEqual(first, tolerances.of_losses(self.entry, [2.0])[0])
        self.assertEqual(second - first, 4 * 0.5)


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


    def test_are_parameters_where_no_means_are_kept(self):
        with tempfile.TemporaryDirectory() as scratch:
            folder, one = pathlib.Path(scratch), array.array("f", [1.0])
            tensors.write(folder / "x.safetensors", {"a": one})
            self.assertEqual(tensors.first_means(folder), {"a": one})
            tensors.write(folder / "x.safetensors", {"a": array.array("f", [2.0]), "a.momentum_buffer": one})
            self.assertEqual(tensors.first_means(folder), {"a": one})


class Wide(unittest.TestCase):
    def program(self, ours, expected):
        program = mock.Mock(entry={"precision": "f32", "sums": [16], "tokens": 4, "parameters": 100, "norm": 1.0})
        program.lines.return_value = ours, expected
        return program

    def test_names_and_models_are_known(self):
        names = [program.name for program in wide.PROGRAMS]
        self.assertEqual(len(names), len(set(names)))
        self.assertEqual({program.model for program in wide.PROGRAMS}, wide.MODELS.keys())
        self.assertEqual([check for program in wide.PROGRAMS for check in program.checks if check not in wide_checks.CHECKS], [])

    def test_each_number_of_the_first_step_is_compared(self):
        line = {"step": 1, "seconds": 0.1, "targets": 7, "norm:x": 2.0}
        self.assertEqual(wide_checks.measured(self.program([line], [{**line, "seconds": 0.2, "norm:x": 2.0000001}])), {"numbers": 2})
        for wrong in ({"norm:x": 2.1}, {"targets": 8}, {"norm:x": math.nan}, {"dropped": 1}):
            with self.assertRaisesRegex(tools.Failed, "step 1 has"):
                wide_checks.measured(self.program([{**line, **wrong}], [line]))

    def test_held_out_losses_are_those_of_the_same_steps(self):
        with tempfile.TemporaryDirectory() as scratch:
            lines = [{"step": 1, "loss": 2.0}, {"step": 1, "eval_loss": 3.0}]
            program = self.program(lines, lines)
            program.metrics = pathlib.Path(scratch) / "metrics.jsonl"
            program.metrics.write_text("".join(json.dumps(line) + "\n" for line in lines))
            self.assertEqual(wide_checks.held_out(program)["evaluations"], 1)
            for wrong, message in (([lines[0], {"step": 1, "eval_loss": 3.1}], "differ"), (lines[:1], "expected are")):
                program.lines.return_value = wrong, lines
                with self.assertRaisesRegex(tools.Failed, message):
                    wide_checks.held_out(program)

    def test_a_run_that_fails_is_not_run_again(self):
        program = wide_checks.Program.__new__(wide_checks.Program)
        program.lock, program.first, program.error, program.saved = mock.MagicMock(), None, None, "saved"
        program.train = mock.Mock(side_effect=tools.Failed("out of memory"))
        for message in ("out of memory", "see losses", "see losses"):
            with self.assertRaisesRegex(tools.Failed, message):
                program.plain()
        program.train.assert_called_once()

    def test_documents_lie_one_behind_the_other(self):
        with tempfile.TemporaryDirectory() as scratch:
            path = pathlib.Path(scratch) / "x"
            wide_emit.write_documents(path, 1001, 300)
            data = path.read_bytes()
            count = int.from_bytes(data[32:40], "little")
            starts = array.array("Q", data[-8 * count:])
            self.assertEqual((data[:8], len(data)), (b"BRAIDTOK", 64 + 2008 + 8 * count))
            self.assertEqual(starts[0], 0)
            self.assertTrue(all(2 <= after - before <= 60 for before, after in zip(starts, [*starts[1:], 1001 + 1])))


class Verdict(unittest.TestCase):
    def rows(self, *lines):
        found = verdict.rows({(line["program"], line["check"]): line for line in lines})
        return {name.split(":")[-1].strip(): (value, met) for name, value, _, met in found[1:]}

    def line(self, program, check, **figures):
        return {"program": program, "check": check, "outcome": "passed", **figures}

    def test_is_met_or_missed(self):
        rows = self.rows(self.line("gpt2-124m", "beside_compile", ratio_median=1.3), self.line("gpt2-124m", "throughput", mfu=0.5),
                         self.line("gpt2-124m-tiles", "beside_compile-bf16", ratio_median=1.15), self.line("llama-1b", "throughput", mfu=0.61),
                         self.line("gpt2-124m", "throughput_searched", mfu=None))
        self.assertEqual(rows["tokens/s over torch.compile"], ("", "not measured (it was not run)"))  # the last one, of the Llama
        self.assertEqual(rows["MFU"], ("0.610", "met"))
        compiled = verdict.over_compile(verdict.GPT)
        self.assertEqual(compiled({("gpt2-124m", "beside_compile"): {"outcome": "passed", "ratio_median": 1.3}}), 1.3)

    def test_says_why_nothing_was_measured(self):
        rows = self.rows({"program": "gpt2-124m", "check": "beside_llm.c", "outcome": "skipped", "reason": "no folder of llm.c"},
                         self.line("a", "memcheck"), {"program": "a", "check": "racecheck", "outcome": "failed", "reason": "1 error"},
                         {"program": "b", "check": "resumes", "outcome": "skipped", "reason": "the time of the step was over"})
        self.assertEqual(rows["tokens/s over llm.c"], ("", "not measured (gpt2-124m beside_llm.c skipped: no folder of llm.c)"))
        self.assertEqual(rows["sanitizer finds nothing, share of programs"], ("0.500", "MISSED"))
        self.assertEqual(rows["losses as the CPU target's, share of programs"], ("", "not measured (b resumes skipped: the time of the step was over)"))


class Folder(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name)

    def test_of_somebody_else_is_left_alone(self):
        (self.scratch / "theirs").mkdir()
        (self.scratch / "theirs/file").touch()
        with self.assertRaisesRegex(tools.Failed, "theirs is not empty, and gpu-visit has not written it: name a new folder"):
            emit.clear(self.scratch / "theirs")
        with self.assertRaisesRegex(tools.Failed, "file is a file: name a folder to write to"):
            emit.clear(self.scratch / "theirs/file")
        self.assertTrue((self.scratch / "theirs/file").exists())

    def test_of_an_earlier_emission_is_written_anew(self):
        emit.clear(self.scratch / "ours")
        (self.scratch / "ours/old").touch()
        emit.clear(self.scratch / "ours")
        self.assertEqual([path.name for path in (self.scratch / "ours").iterdir()], [emit.MARK])

    def test_that_is_too_large_is_refused(self):
        with open(self.scratch / "large", "wb") as file:
            file.truncate(emit.LIMIT - emit.TRACKED + 1)
        with self.assertRaisesRegex(tools.Failed, "43.0 MiB are more than 43"):
            emit.tell_size(self.scratch)

    def test_packs_and_unpacks(self):
        (self.scratch / "a/b").mkdir(parents=True)
        (self.scratch / "a/b/program").write_bytes(b"code")
        (self.scratch / "a/b/program").chmod(0o755)
        pack.pack(self.scratch / "a", self.scratch / "one.tar.xz")
        os.utime(self.scratch / "a/b/program", (1, 1))
        pack.pack(self.scratch / "a", self.scratch / "two.tar.xz")
        self.assertEqual((self.scratch / "one.tar.xz").read_bytes(), (self.scratch / "two.tar.xz").read_bytes())
        pack.unpack(self.scratch / "one.tar.xz", self.scratch / "new")
        self.assertEqual((self.scratch / "new/b/program").read_bytes(), b"code")
        self.assertTrue(os.access(self.scratch / "new/b/program", os.X_OK))
        (self.scratch / "one.tar.xz").write_bytes(b"\xfd7zXZ\0 cut")
        with self.assertRaisesRegex(tools.Failed, "cannot unpack"):
            pack.unpack(self.scratch / "one.tar.xz", self.scratch / "newer")


class Frontend(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name)
        for name in ("cudnn_frontend.h", "cudnn_frontend_shim.h", "cudnn_backend_base.h", "cudnn_frontend/node.h", "other.h"):
            path = self.scratch / "include" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()

    def test_goes_along_with_all_that_it_includes(self):
        with mock.patch.dict(os.environ, {"CUDNN_FRONTEND_INCLUDE_DIR": str(self.scratch / "include")}):
            build.carry_frontend(self.scratch, rehearsal=False)
        self.assertEqual(sorted(path.name for path in (self.scratch / "cudnn-frontend/include").iterdir()),
                         ["cudnn_backend_base.h", "cudnn_frontend", "cudnn_frontend.h", "cudnn_frontend_shim.h"])

    def test_missing_is_an_error(self):
        with mock.patch.object(build, "find_frontend", lambda: None):
            with self.assertRaisesRegex(tools.Failed, "cudnn_frontend.h was not found.*scripts/setup-cuda"):
                build.carry_frontend(self.scratch, rehearsal=False)


class Libraries(unittest.TestCase):
    """A toolkit with some libraries, and packages with the others."""

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
                if not seen:
                    self.assertIsNone(machine.find_gpu(), text)


class Carried(unittest.TestCase):
    def reason(self, needed, version):
        def run(words, **_):
            return "\n".join(f" 0x1 (NEEDED)  Shared library: [{name}]" for name in needed) if words[0] == "readelf" else f"GLIBC_{version} x"

        with mock.patch.object(tools, "run", run):
            return build.reason_not_to_carry("program")

    def test_needs_the_c_library_and_cuda(self):
        self.assertIsNone(self.reason(["libcudart.so.13", "libstdc++.so.6", "libc.so.6", "ld-linux-x86-64.so.2"], "2.34"))
        self.assertEqual(self.reason(["libc.so.6", "libcrypto.so.3"], "2.34"), "needs libcrypto.so.3, which a device machine may not have")
        self.assertEqual(self.reason(["libc.so.6"], "2.36"), "needs GLIBC 2.36, newer than 2.34")


class Steps(unittest.TestCase):
    """The order and the times of a visit whose steps only wait."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        commands = mock.patch.object(tools, "commands", tools.Commands())
        commands.start()
        self.addCleanup(commands.stop)
        self.clock = tools.commands.clock = tools.Clock(0.01)
        place = output.Output(pathlib.Path(scratch.name) / "out", self.clock)
        self.visit = mock.Mock(clock=self.clock, output=place, results=results.Results(place, self.clock, {}), scratch=pathlib.Path(scratch.name) / "none")
        self.ran = []

    def run_all(self, *works):
        schedule = steps.ends([steps.Step(f"s{number}", 50, work) for number, work in enumerate(works)])
        with mock.patch.object(visit.Run, "tell", lambda run, why=None: self.ran.append("told")):
            runs = visit.Run(self.visit, schedule, 560)
            runs.all()
            runs.ticker.stop()
        return {check: line["outcome"] for (_, check), line in self.visit.results.lines.items()}

    def waits(self, name, seconds):
        def work(its):
            its.results.attempt(name, name, lambda: tools.run(["sleep", str(seconds)]) and {})
        return work

    def test_that_take_too_long_are_ended_and_cannot_stop_the_next(self):
        def broken(_):
            raise KeyError("a mistake in a step")

        begin = self.clock.now()
        found = self.run_all(self.waits("a", 60), broken, self.waits("b", 0.01))
        self.assertEqual(found, {"a": "skipped", "s1": "failed", "b": "passed"})
        self.assertLess(self.visit.results.lines["a", "a"]["at"] - begin, 100)
        self.assertEqual(self.ran, ["told"])

    def test_build_programs_that_were_not_carried_beside_those_that_were(self):
        entries = [{"name": name, "checks": ["losses"]} for name in ("carried", "missing")]
        built, ran = {"carried"}, []
        self.visit.manifest = {"wide": entries}
        self.visit.binary = lambda name: mock.Mock(exists=lambda: name in built)
        self.visit.checked = lambda entry: mock.Mock(entry=entry)
        self.visit.build_there = built.update
        with mock.patch.dict(wide_checks.CHECKS, losses=lambda program: ran.append((program.entry["name"], sorted(built)))):
            steps.wide_numbers(self.visit)
        self.assertEqual(ran[1], ("missing", ["carried", "missing"]))
        self.assertEqual(self.visit.results.outcome("machine", "build"), "passed")

    def test_build_where_carried_programs_do_not_start(self):
        def start(its):
            its.results.add("machine", "start", "failed", reason="version `GLIBC_2.99' not found")

        self.visit.build_there = lambda: self.ran.append("built")
        schedule = steps.ends([steps.Step("start", 50, start), steps.Step("next", 50, lambda _: self.ran.append(self.clock.deadline))])
        with mock.patch.object(visit.Run, "tell", lambda run, why=None: None):
            runs = visit.Run(self.visit, schedule, 560)
            runs.all()
            runs.ticker.stop()
        self.assertEqual(self.ran, ["built", 100 + visit.BUILDING])

    def test_fit_the_visit(self):
        self.assertLessEqual(steps.ends(steps.SCHEDULE)[-1][1], dry_run.END)

    def test_that_are_chosen_begin_at_once(self):
        few = steps.ends(steps.chosen("llama,start"))
        self.assertEqual([(step.name, end) for step, end in few], [("start", 8), ("llama", 138)])
        self.assertEqual([step.takes for step in steps.chosen("llama:20,start")], [8, 20])
        with self.assertRaisesRegex(tools.Failed, "there is no step lama: steps are start, nccl"):
            steps.chosen("start,lama")
        with self.assertRaisesRegex(tools.Failed, "gpt:1m: the time of a step is a number of seconds"):
            steps.chosen("gpt:1m")


class Sanitizer(unittest.TestCase):
    CLEAN, FOUND = "========= ERROR SUMMARY: 0 errors", "========= Invalid __global__ write of size 4\n=========     at adam_kernel+0x130\n========= ERROR SUMMARY: 1 error"

    def check(self, printed, status):
        program = mock.Mock()
        program.command.return_value, program.visit.manifest = ["program"], {"kernels": ["adam_kernel"]}

        def run(words, **_):
            self.assertIn("kns=adam_kernel", words)
            if status:
                raise tools.Failed(f"ended with status {status}", printed)
            return printed

        with mock.patch.object(machine, "find_tool", lambda name: name), mock.patch.object(tools, "run", run):
            return sanitizer.check("memcheck", program)

    def test_findings_and_silence_fail(self):
        self.assertEqual(self.check(self.CLEAN, 0), {"errors": 0})
        with self.assertRaisesRegex(tools.Failed, "(?s)memcheck reports 1 errors: Invalid __global__ write of size 4.*adam_kernel"):
            self.check(self.FOUND, 99)
        with self.assertRaisesRegex(tools.Failed, "memcheck ended without a summary"):
            self.check("=========", 0)
        with self.assertRaisesRegex(tools.Failed, "ended with status 1"):  # the program's own failure
            self.check(self.CLEAN, 1)
        with self.assertRaisesRegex(tools.Skipped, "does not support this device"):
            self.check("Device not supported", 1)


class Log(unittest.TestCase):
    def test_has_what_commands_print_as_it_comes(self):
        with tempfile.TemporaryDirectory() as scratch:
            clock = tools.Clock()
            out, commands = output.Output(pathlib.Path(scratch), clock), tools.Commands()
            commands.log = out.log
            command = commands.start(["sh", "-c", "echo early; sleep 60"], label="one")
            log = pathlib.Path(scratch) / "log.txt"
            for _ in range(200):
                commands.drain()
                if "early" in log.read_text().splitlines():
                    break
                time.sleep(0.02)
            self.assertIn("early\n", log.read_text())
            commands.end(command)
            with mock.patch.object(output, "LOG_LIMIT", log.stat().st_size + 10):
                out.log("two", b"x" * 100)
                out.log("two", b"y")
            self.assertTrue(log.read_text().endswith("the log is full; what follows is left out\n"))


class Explain(unittest.TestCase):
    def line(self, name, kind, seconds, **costs):
        its = {"matrix_flops": 0, "vector_flops": 0, "bytes_read": 0, "bytes_written": 0, "launch_s": 2e-6, "matrix_s": 0, "vector_s": 0,
               "memory_s": 0, **costs}
        predicted = its["launch_s"] + max(its["matrix_s"] + its["vector_s"], its["memory_s"])
        return {"program": "gpt2-124m", "name": name, "kind": kind, "type": "bf16", "seconds": seconds, **its, "predicted_s": predicted}

    def test_fits_rates_and_names_losses(self):
        lines = [self.line(f"matmul -> h.{layer}.mlp@{layer}#0 [8 x 8]", "matmul", 402e-6, matrix_flops=1.2e11, matrix_s=200e-6) for layer in range(3)]
        lines += [self.line(f"launch -> h.{layer}.ln@7#1 [8]", "launch", 104e-6, bytes_read=1e8, bytes_written=1e8, memory_s=80e-6) for layer in range(2)]
        lines += [self.line("launch -> tiny", "launch", 4e-6, bytes_read=100, memory_s=1e-9)]
        printed = []
        explain.tell("gpt2-124m", lines, printed.append)
        text = "\n".join(printed)
        self.assertRegex(text, r"launch, us +2.00 +4.00 +2.00")
        self.assertRegex(text, r"bf16 matmuls, TFLOP/s +600 +301.5 +0.50 +3")
        self.assertRegex(text, r"memory, GB/s +2500 +2000 +0.80 +2")
        self.assertRegex(text, r"matmul +matmul -> h\.\*\.mlp \[8 x 8\] +3 +0.606 +1.206 +0.600")
        self.assertRegex(text, r"1\. 0.600 ms, 42.3% of the step: 3 x matmul -> h\.\*\.mlp \[8 x 8\], bound by matrix")

    def test_reads_what_a_cut_visit_left(self):
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            with self.assertRaisesRegex(tools.Failed, "has no launches.jsonl: no step was profiled in this visit"):
                explain.read(folder)
            (folder / "launches.jsonl").write_text(json.dumps(self.line("a", "launch", 1e-6)) + '\n{"program": "gpt2-1')
            self.assertEqual([len(lines) for lines in explain.read(folder).values()], [1])


if __name__ == "__main__":
    unittest.main()
