#!/usr/bin/env python3
"""scripts/check_determinism can fail: on a program whose runs differ, and on one that differs only without FMA and AVX2."""
import pathlib
import subprocess
import unittest

CHECK = pathlib.Path(__file__).resolve().parent.parent / "scripts" / "check_determinism"


class Determinism(unittest.TestCase):
    def check(self, *command):
        done = subprocess.run([CHECK, "--light", *command], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    def test_a_program_that_prints_the_same_passes(self):
        self.assertEqual(self.check("/bin/echo", "42")[0], 0)

    def test_a_program_whose_runs_differ_fails(self):
        code, said = self.check("/bin/date", "+%s%N")
        self.assertEqual(code, 1)
        self.assertIn("first and second differ", said)

    def test_a_program_that_differs_without_fma_fails(self):
        code, said = self.check("/bin/sh", "-c", 'echo "${GLIBC_TUNABLES:-all}"')
        self.assertEqual(code, 1)
        self.assertIn("first and without-fma differ", said)
        self.assertIn("-FMA", said)

    def test_a_program_that_fails_or_prints_nothing_is_no_agreement(self):
        for command in (["/bin/false", ""], ["/bin/true", ""]):
            self.assertEqual(self.check(*command)[0], 3, command)


if __name__ == "__main__":
    unittest.main()
