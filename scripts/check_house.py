#!/usr/bin/env python3
"""The rules of the house that a compiler does not know. Fails like one: `src/core/units.h:7: core may not include fleet`.

check_house.py includes [--root DIR]                       a room includes only rooms above it, by their public face
check_house.py headers  [--root DIR] -- COMPILER FLAGS     every header compiles when it is the first thing included
check_house.py symbols  LIBRARY...                         code that decides calls no libm transcendental
check_house.py words    [--root DIR]                       no leftovers, no tests that cannot fail
check_house.py layout   [--root DIR] [--clang-format X]    clang-format has nothing to say

Exit codes: 0 the rule holds, 1 it is broken, 2 usage, 3 a tool is missing or failed.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

# DESIGN section 3, top to bottom. A room may include only itself and rooms before it.
ROOMS = ("core perimeter fleet dispatch spine ledger replay trace trust plan reclaim failure report verify net wire "
         "simulated adapters gateway agent cli").split()
# These have one public face for each part; every other room has ROOM/ROOM.h alone, and x_testing.h for tests.
MANY_FACES = {"core", "plan", "net", "wire", "simulated", "adapters", "gateway"}
# A port that other rooms implement is a face of its own, so that who implements it need not know the room behind it.
# So is a part of a room that most who include the room can do without.
PORTS = {"perimeter/secret.h", "replay/source.h", "trace/numbers.h", "fleet/budget.h", "fleet/findings.h", "fleet/values.h",
         "fleet/yaml_file.h", "ledger/spine_ledger.h", "ledger/decided.h", "ledger/hold.h", "ledger/budget.h", "fleet/series.h"}

# Functions of libm whose last bit depends on the version, the CPU or the compiler. sqrt, fabs, floor, fma, ldexp and the like
# are exact and free to use.
TRANSCENDENTAL = ("exp exp2 exp10 expm1 log log2 log10 log1p pow sin cos tan sincos asin acos atan atan2 sinh cosh tanh asinh "
                  "acosh atanh hypot cbrt erf erfc tgamma lgamma gamma j0 j1 jn y0 y1 yn").split()
FORBIDDEN_SYMBOL = re.compile(r"^(__)?(%s)([fl]|f128|f64x)?(_r|_finite)?$" % "|".join(TRANSCENDENTAL))

FORBIDDEN_WORD = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b|\bDISABLED_\w*|\bGTEST_SKIP\b"
                            r"|\b(EXPECT|ASSERT)_TRUE\s*\(\s*true\s*\)|\b(EXPECT|ASSERT)_FALSE\s*\(\s*false\s*\)")

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')
SOURCE_SUFFIXES = {".h", ".cc", ".S"}
TEXT_SUFFIXES = SOURCE_SUFFIXES | {".txt", ".md", ".proto", ".py", ".ts", ".tsx", ".js", ".mjs", ".css", ".html", ".sh", ""}


def files_below(folder, suffixes):
    return sorted(p for p in folder.rglob("*") if p.suffix in suffixes and p.is_file() and "node_modules" not in p.parts)


def check_includes(root):
    """Yields one line for each include that points up the list or past a public face."""
    for path in files_below(root / "src", {".h", ".cc"}):
        relative = path.relative_to(root)
        room = relative.parts[1]
        if room not in ROOMS:
            yield f"{relative}:1: {room} is not a room of DESIGN section 3"
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            found = INCLUDE.match(line)
            if not found:
                continue
            quoted, target = found.group(1) == '"', found.group(2)
            other = target.split("/")[0]
            if "/" not in target or other not in ROOMS:
                if quoted:
                    yield f'{relative}:{number}: write the room: "{room}/{target}", not "{target}"'
                continue
            if not quoted:
                yield f'{relative}:{number}: our own headers stand in quotes: "{target}"'
            if other == room:
                continue
            if ROOMS.index(other) > ROOMS.index(room):
                yield f"{relative}:{number}: {room} may not include {other}"
            elif (other not in MANY_FACES and target not in PORTS and target != f"{other}/{other}.h"
                  and not target.endswith("_testing.h")):
                yield f"{relative}:{number}: {room} may include {other}/{other}.h only, not {target}"


def check_headers(root, compiler):
    """Yields what the compiler says about each header that does not stand alone."""
    headers = [p.relative_to(root / "src") for p in files_below(root / "src", {".h"})]
    with tempfile.TemporaryDirectory() as scratch:

        def compile_alone(header):
            unit = pathlib.Path(scratch, str(header).replace("/", "_") + ".cc")
            # The same bytes in every run, so that ccache knows them again.
            unit.write_text(f'#include "{header}"\n#include "{header}"\n')
            done = subprocess.run([*compiler, "-I", str(root / "src"), "-c", unit.name, "-o", unit.name + ".o"], cwd=scratch,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
            if done.returncode == 0:
                return None
            return f"src/{header}:1: does not compile alone\n" + "\n".join(done.stdout.splitlines()[:8])

        with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            yield from filter(None, pool.map(compile_alone, headers))


def check_symbols(libraries):
    """Yields each undefined symbol of these libraries that is a libm transcendental."""
    for library in libraries:
        listing = subprocess.run(["nm", "-u", library], capture_output=True, text=True, check=False)
        if listing.returncode != 0:
            raise OSError(listing.stderr.strip() or f"nm failed on {library}")
        member = "?"
        for line in listing.stdout.splitlines():
            if line.endswith(":"):
                member = line[:-1]
            elif line.strip().startswith("U ") and FORBIDDEN_SYMBOL.match(line.split()[1].split("@")[0]):
                yield (f"{pathlib.Path(library).name}({member}): calls {line.split()[1]} of libm, whose last bit differs "
                       "between machines; use core/numeric.h")


def check_words(root):
    """Yields each leftover, and each test that is switched off or cannot fail."""
    for folder in ("src", "tests", "ui/src"):
        for path in files_below(root / folder, TEXT_SUFFIXES) if (root / folder).is_dir() else []:
            try:
                lines = path.read_text(encoding="utf-8").splitlines()
            except UnicodeDecodeError:
                continue  # bytes, not text: an input of a test
            for number, line in enumerate(lines, 1):
                for found in FORBIDDEN_WORD.finditer(line):
                    yield f"{path.relative_to(root)}:{number}: {found.group(0)} does not belong here: mend it or file an issue"


def check_layout(root, clang_format):
    """Yields what clang-format would change, in its own words."""
    files = [str(p.relative_to(root)) for p in files_below(root / "src", {".h", ".cc"})]
    if not files:
        return
    done = subprocess.run([clang_format, "--dry-run", "-Werror", "--style=file", *files], cwd=root, capture_output=True,
                          text=True, check=False)
    if done.returncode != 0:
        wrong = [line for line in done.stderr.splitlines() if "error:" in line]
        yield from wrong or done.stderr.splitlines()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("check", choices=["includes", "headers", "symbols", "words", "layout"])
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    parser.add_argument("--clang-format", default="clang-format-16")
    parser.add_argument("rest", nargs="*", help="libraries for `symbols`, the compiler and its flags for `headers`")
    ours, compiler = sys.argv[1:], []
    if "--" in ours:  # what follows belongs to the compiler, dashes and all
        at = ours.index("--")
        ours, compiler = ours[:at], ours[at + 1:]
    arguments = parser.parse_args(ours)
    arguments.rest += compiler
    root = arguments.root.resolve()
    if arguments.check in ("headers", "symbols") and not arguments.rest:
        parser.error(f"{arguments.check}: nothing to check with; see --help")
    needed = {"headers": arguments.rest[:1], "symbols": ["nm"], "layout": [arguments.clang_format]}.get(arguments.check, [])
    for tool in needed:
        if not shutil.which(tool):
            print(f"check_house: {tool} is not installed; scripts/setup installs it", file=sys.stderr)
            return 3
    check = {
        "includes": lambda: check_includes(root),
        "headers": lambda: check_headers(root, arguments.rest),
        "symbols": lambda: check_symbols(arguments.rest),
        "words": lambda: check_words(root),
        "layout": lambda: check_layout(root, arguments.clang_format),
    }[arguments.check]
    try:
        broken = list(check())
    except OSError as error:
        print(f"check_house: {error}", file=sys.stderr)
        return 3
    for line in broken:
        print(line, file=sys.stderr)
    print(f"{arguments.check}: {'holds' if not broken else f'{len(broken)} violations'}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
