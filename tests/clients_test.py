#!/usr/bin/env python3
"""Real client libraries against ACE: every scenario goes to a simulated provider directly and through `ace serve`, and gets the same.

    clients_test.py ACE openai|anthropic|vercel_ai NODE WORK       WORK: where npm_ci.mjs put tests/clients
    clients_test.py ACE openai_python WORK                         WORK: where Python's packages are put

Exit codes: 0 all passed, 1 some failed, 77 Python's packages cannot be had here.
"""
import pathlib
import subprocess
import sys
import venv

import gateway_world
from gateway_world import CLAUDE, Gateway, Place
from services import Provider

CLIENTS = pathlib.Path(__file__).resolve().parent / "clients"
SKIPPED = 77


def python_with_packages(work):
    """A Python of its own with what requirements.txt names, made anew if that has changed."""
    requirements, stamp, python = CLIENTS / "requirements.txt", work / "installed.txt", work / "bin/python"
    if stamp.exists() and stamp.read_bytes() == requirements.read_bytes():
        return python
    venv.create(work, clear=True, with_pip=True)
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary", ":all:", "--retries", "1", "-r", requirements]
    done = subprocess.run(pip, capture_output=True, text=True, timeout=240, check=False)
    if done.returncode != 0:
        print(f"openai_python: SKIPPED, its packages cannot be had here: {done.stderr.strip()[-500:]}")
        sys.exit(SKIPPED)
    stamp.write_bytes(requirements.read_bytes())
    return python


def main():
    ace, suite = sys.argv[1:3]
    if suite == "openai_python":
        command = [python_with_packages(pathlib.Path(sys.argv[3]).resolve()), CLIENTS / "openai_python.py"]
    else:
        command = [sys.argv[3], pathlib.Path(sys.argv[4], "main.mjs"), suite]
    with gateway_world.folder() as folder, Provider(ace, folder) as provider:
        places = [Place("near", provider.url), Place("claude", provider.url, "anthropic", CLAUDE)]
        with Gateway(ace, folder, places, tenants="acme: {slo: chat}", keys=("acme",)) as gateway:
            ran = subprocess.run([*map(str, command), provider.url, gateway.url, gateway.keys["acme"]], timeout=280, check=False)
        if ran.returncode == 0:
            gateway.run("verify", gateway.spine)
            assert all(len(story["ends"]) == 1 for story in gateway.stories().values()), "each request ends once"
    return ran.returncode


if __name__ == "__main__":
    sys.exit(main())
