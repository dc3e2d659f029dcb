#!/usr/bin/env python3
"""Each rule of scripts/check_house.py can fail: a small tree with one planted violation, and the same tree without it."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECK = pathlib.Path(__file__).resolve().parent.parent / "scripts" / "check_house.py"


class House(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.write("src/core/units.h", "#pragma once\nstruct Tokens {};\n")

    def write(self, path, text):
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
        return target

    def check(self, name, *more, root=True):
        where = ["--root", str(self.root)] if root else []
        done = subprocess.run([sys.executable, CHECK, name, *where, *map(str, more)], capture_output=True, text=True, check=False)
        return done.returncode, done.stderr

    def expect_broken(self, message, name, *more, **options):
        code, said = self.check(name, *more, **options)
        self.assertEqual(code, 1, said)
        self.assertIn(message, said)

    def expect_holds(self, name, *more, **options):
        self.assertEqual(self.check(name, *more, **options), (0, ""))


class Includes(House):
    def test_a_room_may_not_include_a_room_below_it(self):
        self.write("src/core/money.h", "#pragma once\n\n#include <string>\n#include \"fleet/fleet.h\"\n")
        self.expect_broken("src/core/money.h:4: core may not include fleet", "includes")

    def test_another_room_is_included_by_its_face_alone(self):
        self.write("src/ledger/fold.cc", '#include "core/units.h"\n#include "fleet/fleet.h"\n#include "fleet/yaml.h"\n')
        self.expect_broken("src/ledger/fold.cc:3: ledger may include fleet/fleet.h only, not fleet/yaml.h", "includes")

    def test_a_port_is_a_face_of_its_own(self):
        self.write("src/trace/open.h", '#pragma once\n#include "replay/source.h"\n')
        self.expect_holds("includes")

    def test_a_header_is_named_with_its_room(self):
        self.write("src/fleet/parse.cc", '#include "parse.h"\n')
        self.expect_broken('src/fleet/parse.cc:1: write the room: "fleet/parse.h", not "parse.h"', "includes")

    def test_our_headers_stand_in_quotes(self):
        self.write("src/fleet/parse.cc", "#include <core/units.h>\n")
        self.expect_broken("src/fleet/parse.cc:1: our own headers stand in quotes", "includes")

    def test_a_folder_that_is_no_room_is_named(self):
        self.write("src/util/misc.h", "#pragma once\n")
        self.expect_broken("src/util/misc.h:1: util is not a room", "includes")

    def test_downward_includes_and_a_rooms_own_headers_are_fine(self):
        self.write("src/gateway/gateway.cc", '#include "net/http.h"\n#include "gateway/cache.h"\n#include "fleet/fleet.h"\n')
        self.expect_holds("includes")


class Headers(House):
    COMPILER = ("--", "g++", "-std=c++20", "-Wall", "-Werror")

    def test_a_header_that_leans_on_another_is_named(self):
        self.write("src/core/zeta.h", "#pragma once\ninline std::string zeta() { return {}; }\n")
        self.expect_broken("src/core/zeta.h:1: does not compile alone", "headers", *self.COMPILER)

    def test_a_header_without_a_guard_is_named(self):
        self.write("src/core/open.h", "struct Open {};\n")
        self.expect_broken("src/core/open.h:1: does not compile alone", "headers", *self.COMPILER)

    def test_headers_that_include_what_they_use_are_fine(self):
        self.write("src/fleet/fleet.h", '#pragma once\n#include "core/units.h"\nstruct Fleet { Tokens context; };\n')
        self.expect_holds("headers", *self.COMPILER)


class Symbols(House):
    def library(self, body):
        source = self.write("deciding.cc", f"#include <cmath>\ndouble decide(double x, double y) {{ return {body}; }}\n")
        subprocess.run(["g++", "-O1", "-c", source, "-o", self.root / "deciding.o"], check=True)
        archive = self.root / "libdeciding.a"
        subprocess.run(["ar", "rcs", archive, self.root / "deciding.o"], check=True)
        return archive

    def test_a_transcendental_is_named(self):
        for call in ("exp", "log", "sin", "cosf", "tanl", "log1p"):
            argument = "static_cast<float>(x)" if call.endswith("f") else "x"
            library = self.library(f"{'' if call[-1] in 'fl' else 'std::'}{call}({argument}) + y")
            self.expect_broken(f"(deciding.o): calls {call} of libm", "symbols", library, root=False)
        self.expect_broken("calls pow of libm", "symbols", self.library("std::pow(x, y)"), root=False)

    def test_exact_functions_are_fine(self):
        self.expect_holds("symbols", self.library("std::sqrt(x) + std::floor(y) + std::fmod(x, y) + std::fabs(x)"), root=False)

    def test_a_library_that_is_not_there_is_an_error_of_the_environment(self):
        self.assertEqual(self.check("symbols", self.root / "none.a", root=False)[0], 3)


class Words(House):
    # Taken apart, so that this file keeps the rule it tests.
    PLANTED = ("TO" "DO", "FIX" "ME", "X" "XX", "HA" "CK", "DISABLED" "_now", "GTEST" "_SKIP", "EXPECT" "_TRUE(true)",
               "ASSERT" "_TRUE( true )", "EXPECT" "_FALSE(false)")

    def test_each_word_is_found_wherever_code_lies(self):
        for place in ("src/core/units.h", "tests/end_to_end.py", "ui/src/page.tsx"):
            for word in self.PLANTED:
                before = (self.root / place).read_text() if (self.root / place).exists() else None
                self.write(place, f"first line\n// {word} later\n")
                self.expect_broken(f"{place}:2: {word} does not belong here", "words")
                self.write(place, before or "")

    def test_longer_words_that_contain_one_are_fine(self):
        self.write("src/core/temp.cc", 'const char* name = "traceXXXXXX"; int HACKSAW, TODOS; EXPECT_TRUE(truely());\n')
        self.expect_holds("words")


class Layout(House):
    def test_a_badly_laid_out_line_is_named(self):
        self.write(".clang-format", "BasedOnStyle: Google\n")
        self.write("src/core/units.h", "#pragma once\nstruct   Tokens {  };\n")
        self.expect_broken("src/core/units.h:2:", "layout")

    def test_a_tidy_tree_is_fine(self):
        self.write(".clang-format", "BasedOnStyle: Google\n")
        self.expect_holds("layout")


if __name__ == "__main__":
    unittest.main()
