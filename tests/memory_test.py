#!/usr/bin/env python3
"""Memory does not grow with the trace: ten times the requests, read from a pipe, may take at most 20% more of it.

    memory_test.py ACE [TRACE_REQUESTS]
"""
import os
import subprocess
import sys
import tempfile

import world

PROFILE = """\
profile: long
source: made up
start: 2026-01-05T00:00:00Z
length: 200d
rate: 2
defaults:
  model: large
  prompt: {quantiles: {0: 3, 0.5: 4000, 1: 8000}}  # 50,000 of them fill every prefix index to its bound
  output: {quantiles: {0: 3, 0.5: 20, 1: 100}}
  prefix: {system_blocks: 1, continued: 0.3, think: 30s, sessions: 200}
tenants:
  - {name: shop, team: search, share: 2}
  - {name: labs, share: 1}
"""
GROWTH_MAX = 1.20


def peak_kb(here, requests):
    """Peak resident memory of ace analyze on a stream of so many requests, and what it printed."""
    make = [here.ace, "trace", "generate", "--profile", "long.yaml", "--limit", str(requests)]
    analyze = [here.ace, "analyze", "-", "--fleet", "fleet.yaml", "--sensitivity", "off", "--salt-file", "salt", "--threads", "1"]
    with tempfile.TemporaryFile() as out:
        generator = subprocess.Popen(make, cwd=here.folder, stdout=subprocess.PIPE)
        analyzer = subprocess.Popen(analyze, cwd=here.folder, stdin=generator.stdout, stdout=out)
        generator.stdout.close()
        _, status, usage = os.wait4(analyzer.pid, 0)
        analyzer.returncode = os.waitstatus_to_exitcode(status)
        generator.wait()
        out.seek(0)
        text = out.read().decode()
    if analyzer.returncode != 0 or generator.returncode != 0 or f"{requests:,}" not in text:
        sys.exit(f"the stream of {requests} requests was not analyzed:\n{text[:2000]}")
    return usage.ru_maxrss


def main():
    here = world.World(sys.argv[1])
    longer = int(sys.argv[2]) if len(sys.argv) > 2 else 500_000
    here.write("long.yaml", PROFILE)
    small, large = peak_kb(here, longer // 10), peak_kb(here, longer)
    here.close()
    print(f"peak memory: {small / 1024:.1f} MiB for {longer // 10:,} requests, {large / 1024:.1f} MiB for {longer:,}")
    if large > GROWTH_MAX * small:
        sys.exit(f"it grew by {100 * (large / small - 1):.0f}%, at most {100 * (GROWTH_MAX - 1):.0f}% is allowed")


if __name__ == "__main__":
    main()
