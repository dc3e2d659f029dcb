#!/usr/bin/env python3
"""The program as its users meet it: help, exit codes, messages, pipes, files, pseudonyms, same bytes.

    cli_test.py ACE [unittest arguments]
"""
import csv
import decimal
import gzip
import io
import json
import re
import shutil
import subprocess
import sys
import unittest

import readd
import world

HERE = None  # the world of all tests
SALTED = ("--salt-file", "salt")
FAST = ("--sensitivity", "off")


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text.decode("utf-8"))))


class Case(unittest.TestCase):
    def run_ace(self, *arguments, code=0, **named):
        ran = HERE.run(*arguments, **named)
        self.assertEqual(ran.code, code, f"ace {' '.join(map(str, arguments))}\n{ran.err}")
        return ran

    def analyze(self, *arguments, trace="trace.csv", fleet="fleet.yaml", **named):
        return self.run_ace("analyze", trace, "--fleet", fleet, *FAST, *SALTED, *arguments, **named)

    def refused(self, *arguments, code=2, says=(), **named):
        ran = self.run_ace(*arguments, code=code, **named)
        self.assertEqual(ran.out, b"", "nothing but results goes to standard output")
        self.assertTrue(ran.err.startswith("ace: "), ran.err)
        for words in says:
            self.assertIn(words, ran.err)
        return ran.err


class Help(Case):
    COMMANDS = ["", "analyze", "ingest", "explain", "verify", "ledger", "ledger chargeback",
                "ledger focus", "ledger focus-check", "ledger reconcile", "ledger report", "ledger close", "ledger rebuild", "ledger budget", "trace", "trace stats", "trace convert", "trace generate", "trace fit", "fleet",
                "fleet check", "fleet curve", "import", "import litellm", "prices", "prices show", "prices check", "prices corrections", "prices catalog", "prices diff",
                "spine", "spine stat", "spine tail", "spine export", "spine verify", "spine checkpoint", "spine rotate-key", "spine prove", "spine archive", "spine prune",
                "spine append", "plan", "plan forecast", "plan size", "plan valley", "plan spot", "plan spot evaluate", "plan spot watch", "serve", "simulate-provider", "keys", "keys new", "keys list", "keys rotate", "keys revoke", "completion"]

    def test_every_command_has_help_with_usage_and_every_listed_command_is_known_here(self):
        listed = set()
        for command in self.COMMANDS:
            ran = self.run_ace(*command.split(), "--help")
            self.assertIn(f"Usage: {('ace ' + command).strip()}", ran.text)
            self.assertEqual(ran.err, "")
            below = ran.text.partition("Subcommands:\n")[2].partition("\n\n")[0]
            listed |= {f"{command} {line.split()[0]}".strip() for line in below.splitlines() if re.match(r"  [a-z]", line)}
        self.assertEqual(listed, set(self.COMMANDS) - {""})

    def test_the_version_is_one_line(self):
        self.assertRegex(self.run_ace("--version").text, r"^ace \d+\.\d+\.\d+\n$")

    def test_a_mistyped_word_gets_the_one_that_was_meant(self):
        for arguments, says in (
            (["analize"], 'takes no command "analize"; did you mean analyze?'),
            (["trace", "stat"], "did you mean stats?"),
            (["analyze", "trace.csv", "--flet", "fleet.yaml"], 'takes no option "--flet"; did you mean --fleet?'),
            (["analyze", "trace.csv", "--fleet=fleet.yaml", "--treads=2"], "did you mean --threads?"),
            (["prices", "show", "m", "--price", "x"], "did you mean --prices?"),
            (["analyze", "trace.csv", "other.csv", "--fleet", "fleet.yaml"], 'takes no argument "other.csv"'),
        ):
            self.refused(*arguments, says=[says, "--help"])

    def test_what_is_missing_is_named(self):
        self.refused(says=["a command is missing", "analyze"])
        self.refused("fleet", says=["a command is missing: check curve"])
        self.refused("analyze", "trace.csv", says=["--fleet is required"])
        self.refused("analyze", "--fleet", "fleet.yaml", says=["trace is required"])

    def test_a_value_out_of_its_choices_lists_them(self):
        self.refused("analyze", "trace.csv", "--fleet", "fleet.yaml", "--baseline", "list", says=["--baseline", "all-payg,status-quo"])
        self.refused("analyze", "trace.csv", "--fleet", "fleet.yaml", "--threads", "two", says=["--threads"])


class Completion(Case):
    def complete(self, *words):
        script = self.run_ace("completion", "bash").out
        ask = '\nCOMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _ace; printf "%s\\n" "${COMPREPLY[@]}"\n'
        done = subprocess.run(["bash", "-s", "--", *words], input=script + ask.encode(), capture_output=True, cwd=HERE.folder, check=True)
        return done.stdout.decode().split()

    def test_bash_accepts_the_script(self):
        done = subprocess.run(["bash", "-n"], input=self.run_ace("completion", "bash").out, capture_output=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, b""))

    def test_commands_options_choices_and_files_are_completed(self):
        self.assertEqual(self.complete("ace", "an"), ["analyze"])
        self.assertEqual(self.complete("ace", "trace", "st"), ["stats"])
        self.assertEqual(self.complete("ace", "analyze", "--fl"), ["--fleet"])
        self.assertEqual(self.complete("ace", "analyze", "--idle", "by"), ["by-usage", "by-reservation"])
        self.assertEqual(self.complete("ace", "analyze", "fle"), ["fleet.yaml"])
        self.assertEqual(self.complete("ace", "completion", "z"), ["zsh"])

    def test_every_shell_has_a_script_that_names_every_command(self):
        for shell in ("bash", "zsh", "fish"):
            script = self.run_ace("completion", shell).text
            for command in ("analyze", "convert", "curve", "diff"):
                self.assertIn(command, script, shell)
        self.refused("completion", "tcsh", says=["bash,zsh,fish"])


class BadTraces(Case):
    def test_what_is_no_trace_is_refused(self):
        HERE.write("empty.csv", "")
        trace = HERE.read("trace.csv")
        HERE.write("cut.csv.gz", gzip.compress(trace)[:-2000])
        for name, says in (
            ("nowhere.csv", ["nowhere.csv"]),
            (".", ["directory"]),
            ("empty.csv", ["empty"]),
            ("cut.csv.gz", ["truncated"]),
            ("fleet.yaml", ["--format"]),
        ):
            code = 3 if name == "nowhere.csv" else 2
            ran = HERE.run("analyze", name, "--fleet", "fleet.yaml", *FAST)
            with self.subTest(name):
                self.assertIn(ran.code, {code, 2})
                self.assertEqual(ran.out, b"")
                for words in says:
                    self.assertIn(words, ran.err)

    def test_a_trace_without_rows_is_a_warning_and_an_empty_report(self):
        HERE.write("header.csv", "at,model,tenant,prompt,output\n")
        ran = self.analyze("--json", trace="header.csv")
        self.assertIn("0 rows", ran.err)
        self.assertEqual(json.loads(ran.out)["service"]["requests"], 0)
        self.assertIn("0 rows", self.analyze(trace="header.csv").err)
        self.assertIn("0 rows", self.run_ace("trace", "stats", "header.csv").err)

    def test_an_unknown_model_is_named_with_the_way_to_map_it(self):
        HERE.write("other.csv", "at,model,tenant,prompt,output\n2026-01-05T00:00:00Z,mega,shop,10,5\n")
        ran = HERE.run("analyze", "other.csv", "--fleet", "fleet.yaml", *FAST, *SALTED)
        self.assertEqual(ran.code, 2, ran.err)
        self.assertIn("--model-map", ran.err)
        self.assertIn("large", ran.err)
        HERE.write("map.csv", "mega,large\n")
        mapped = json.loads(self.analyze("--json", "--model-map", "map.csv", trace="other.csv").out)
        self.assertEqual(mapped["service"]["requests"], 1)
        forced = json.loads(self.analyze("--json", "--model", "large", trace="other.csv").out)
        self.assertEqual(forced["service"]["requests"], 1)
        self.refused("analyze", "other.csv", "--fleet", "fleet.yaml", *FAST, "--model", "larg", says=["larg", "large"])
        HERE.write("badmap.csv", "mega,lage\n")
        self.refused("analyze", "other.csv", "--fleet", "fleet.yaml", *FAST, "--model-map", "badmap.csv", says=["badmap.csv:1", "lage"])
        HERE.write("badmap.csv", "# twice\nmega,large\nmega,large\n")
        self.refused("analyze", "other.csv", "--fleet", "fleet.yaml", *FAST, "--model-map", "badmap.csv", says=["badmap.csv:3", "mapped already"])

    def test_a_bad_row_is_named_and_skipped_only_on_demand(self):
        good = "2026-01-05T00:00:00Z,large,shop,10,5\n"
        HERE.write("bad.csv", "at,model,tenant,prompt,output\n" + good + "2026-01-05T00:00:01Z,large,shop,ten,5\n" + good.replace(":00Z", ":02Z"))
        self.refused("analyze", "bad.csv", "--fleet", "fleet.yaml", *FAST, says=["bad.csv", "line 3", "prompt"])
        report = json.loads(self.analyze("--json", "--on-bad-row", "skip", trace="bad.csv").out)
        self.assertEqual(report["coverage"]["rows_skipped"][0]["rows"], 1)
        self.assertEqual(report["coverage"]["rows_skipped"][0]["first_lines"], [3])


class BadFleets(Case):
    def test_every_mistake_has_its_place(self):
        text = world.FLEET.replace("tier: owned", "tier: owend").replace("target: 0.99", "target: 99").replace("rpm: 30", "rmp: 30")
        HERE.write("wrong.yaml", text)
        for command in (["analyze", "trace.csv", "--fleet", "wrong.yaml"], ["fleet", "check", "wrong.yaml"]):
            ran = HERE.run(*command)
            self.assertEqual(ran.code, 1 if command[0] == "fleet" else 2)
            places = re.findall(r"wrong\.yaml:(\d+):(\d+)", ran.err)
            lines = text.splitlines()
            expected = [n for n, line in enumerate(lines, 1) if "owend" in line or "target: 99}" in line or "rmp" in line]
            self.assertLessEqual(set(expected), {int(line) for line, _ in places}, ran.err)
            self.assertIn('did you mean "rpm"?', ran.err)
        self.assertEqual(json.loads(HERE.run("fleet", "check", "wrong.yaml", "--json").out)["ok"], False)

    def test_a_fleet_that_is_not_there_is_the_environments_fault(self):
        self.refused("analyze", "trace.csv", "--fleet", "none.yaml", code=HERE.run("fleet", "check", "none.yaml").code, says=["none.yaml"])


class Reports(Case):
    @classmethod
    def setUpClass(cls):
        ran = HERE.run("analyze", "trace.csv", "--fleet", "fleet.yaml", *FAST, *SALTED, "--json", "--requests", "rows.csv", "--html", "report.html")
        assert ran.code == 0, ran.err
        cls.json, cls.err = ran.out, ran.err
        HERE.write("report.json", cls.json)
        cls.report = json.loads(cls.json)
        cls.rows = rows_of(HERE.read("rows.csv"))

    def test_the_report_is_json_on_standard_output_and_nothing_else(self):
        self.assertEqual(self.report["schema"], "ace.report/1")
        self.assertEqual(self.err, "wrote report.html\n")
        self.assertEqual(self.analyze().err, "")

    def test_same_inputs_give_the_same_bytes_on_any_number_of_threads_and_with_or_without_a_spool(self):
        for arguments in ([], ["--threads", "1"], ["--threads", "2"], ["--no-spool"]):
            self.assertEqual(self.analyze("--json", *arguments).out, self.json, arguments)
        self.analyze("--json", "--requests", "again.csv", "--threads", "2")
        self.assertEqual(HERE.read("again.csv"), HERE.read("rows.csv"))
        self.assertNotEqual(self.analyze("--json", "--seed", "2").out, self.json)

    def test_a_window_leaves_out_what_arrived_outside(self):
        cut = "2026-01-05T00:30:00Z"
        inside = json.loads(self.analyze("--json", "--window", f"{cut},").out)
        before = json.loads(self.analyze("--json", "--window", f",{cut}").out)
        expected = sum(row["at"] >= cut[:-1] for row in self.rows)
        self.assertEqual(inside["service"]["requests"], expected)
        self.assertEqual(before["service"]["requests"], len(self.rows) - expected)
        self.refused("analyze", "trace.csv", "--fleet", "fleet.yaml", "--window", cut, says=["--window", "FROM,TO"])
        self.refused("analyze", "trace.csv", "--fleet", "fleet.yaml", "--window", "yesterday,", says=["--window"])

    def test_a_binary_pipe_is_the_same_trace(self):
        binary = self.run_ace("trace", "generate", "--profile", "profile.yaml", "--seed", "1").out
        self.assertTrue(binary.startswith(b"ACEtrc1"))
        piped = json.loads(self.analyze("--json", trace="-", stdin=binary).out)
        self.assertEqual(piped["source"]["trace"], "standard input")
        # A CSV has an apostrophe before a name that a spreadsheet would run, so that tenant's mask is another.
        for part in ("headline", "levers", "service", "waterfall", "baselines", "series", "destinations", "knees"):
            self.assertEqual(piped[part], self.report[part], part)

    def test_html_holds_the_same_json_and_no_network(self):
        page = HERE.read("report.html").decode("utf-8")
        block = re.search(r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', page, re.S).group(1)
        self.assertEqual(json.loads(block), self.report)
        self.assertNotIn("<", block)
        self.assertIsNone(re.search(r'(src|href)="https?:', page))

    def test_names_that_would_end_the_script_are_data(self):
        hostile = "a</script><script>alert(1)</script>"
        text = "at,model,tenant,prompt,output\n2026-01-05T00:00:00Z,large,shop,10,5\n"
        HERE.write(f"{hostile.replace('/', '_')}.csv", text)
        self.analyze("--html", "hostile.html", trace=f"{hostile.replace('/', '_')}.csv")
        page = HERE.read("hostile.html").decode("utf-8")
        self.assertNotIn("<script>alert", page)

    def test_raw_names_of_people_appear_nowhere(self):
        everything = self.json + HERE.read("rows.csv") + HERE.read("report.html") + self.analyze().out
        everything += HERE.run("trace", "stats", "trace.csv", "--json").out + HERE.run("trace", "stats", "trace.csv").out
        everything += HERE.run("trace", "fit", "trace.csv").out
        self.run_ace("trace", "convert", "trace.csv", "masked.csv", "--to", "csv")
        everything += HERE.read("masked.csv")
        for name in (world.SECRET_NAME, world.FORMULA_NAME, "Jane", "cmd|"):
            self.assertNotIn(name.encode(), everything)

    def test_pseudonyms_are_stable_under_one_salt_and_only_under_it(self):
        def masks(report):
            return {line["tenant"] for line in json.loads(report)["chargeback"]} - {"shop", "labs"}

        first = masks(self.json)
        self.assertEqual(len(first), 2)
        for mask in first:
            self.assertRegex(mask, r"^t_[a-z0-9]{10}$")
        HERE.write("salt2", "f" * 64)
        other = masks(self.run_ace("analyze", "trace.csv", "--fleet", "fleet.yaml", *FAST, "--json", "--salt-file", "salt2").out)
        self.assertFalse(first & other)
        HERE.write("short", "f" * 63)
        self.refused("analyze", "trace.csv", "--fleet", "fleet.yaml", "--salt-file", "short", says=["--salt-file"])

    def test_no_cell_of_a_csv_starts_a_formula(self):
        HERE.write("evil.yaml", world.FLEET.replace("labs: {slo: agent}", "labs: {slo: agent}\n  \"+1\": {}\n  \"-x\": {}\n  \"@x\": {}"))
        HERE.write("evil.csv", "at,model,tenant,prompt,output\n" + "".join(
            f"2026-01-05T00:00:0{i}Z,large,{tenant},10,5\n" for i, tenant in enumerate(["+1", "-x", "@x", "\"=1+1\"", "shop"])))
        self.analyze("--requests", "evil_rows.csv", trace="evil.csv", fleet="evil.yaml")
        self.run_ace("trace", "convert", "evil.csv", "evil_out.csv", "--to", "csv", "--fleet", "evil.yaml")
        for name in ("evil_rows.csv", "evil_out.csv"):
            cells = [cell for row in csv.reader(io.StringIO(HERE.read(name).decode())) for cell in row]
            self.assertIn("'+1", cells)
            self.assertFalse([cell for cell in cells if cell[:1] in "=+-@\t\r" and cell[:1] and not re.fullmatch(r"-?[0-9.]+", cell)], name)

    def test_explain_says_what_the_row_says(self):
        late = next(row for row in self.rows if row["reason"] == "slo_request")
        for row in (self.rows[0], late):
            by_row = self.run_ace("explain", "trace.csv", "--fleet", "fleet.yaml", *SALTED, "--row", row["row"]).text
            by_id = self.run_ace("explain", "trace.csv", "--fleet", "fleet.yaml", *SALTED, "--id", row["id"]).text
            self.assertEqual(by_row, by_id)
            self.assertIn(row["id"], by_row)
            for i, name in enumerate(("C0 baseline", "C1 after caching", "C2 after routing", "C3 after arbitrage", "C4 actual")):
                amount = re.search(rf"{name}\s+(-?[0-9.]+)", by_row).group(1)
                self.assertEqual(readd.nano(amount), readd.nano(row[f"c{i}_usd"]), name)
            self.assertIn(row["destination"], by_row)
            for destination in ("h100", "alpha", "beta"):
                self.assertIn(destination, by_row)
        self.refused("explain", "trace.csv", "--fleet", "fleet.yaml", says=["--row", "--id"])
        self.refused("explain", "trace.csv", "--fleet", "fleet.yaml", "--row", "999999", says=["999999"], code=2)
        self.refused("explain", "trace.csv", "--fleet", "fleet.yaml", "--id", "req_nonsense", says=["req_"], code=2)

    def test_verify_accepts_what_was_reported_and_nothing_else(self):
        asked = ("--trace", "trace.csv", "--fleet", "fleet.yaml", *SALTED)
        self.assertIn("verified", self.run_ace("verify", "report.json", *asked).text)
        saving = self.report["headline"]["counted_saving_usd"]
        changed = self.json.replace(saving.encode(), (saving[:-1] + str((int(saving[-1]) + 1) % 10)).encode())
        HERE.write("changed.json", changed)
        self.refused("verify", "changed.json", *asked, code=1, says=["counted_saving_usd", saving])
        HERE.write("fleet2.yaml", world.FLEET.replace('"4.00 USD/Mtok"', '"4.01 USD/Mtok"'))
        self.refused("verify", "report.json", "--trace", "trace.csv", "--fleet", "fleet2.yaml", *SALTED, code=1, says=["fleet_digest"])
        for name, text in (("no.json", "{"), ("list.json", "[]"), ("empty.json", "{}"), ("bare.json", '{"schema":"ace.report/1"}'),
                           ("odd.json", '{"schema":"ace.report/1","source":7,"headline":[],"bounds":0}'),
                           ("kind.json", '{"schema":7}')):
            HERE.write(name, text)
            with self.subTest(name):
                self.refused("verify", name, *asked, says=[name])

    def test_a_report_holds_the_choices_it_was_made_by(self):
        HERE.write("gaps.csv", "2026-01-05T00:40:00Z,2026-01-05T00:50:00Z\n")
        cut = self.analyze("--json", "--window", "2026-01-05T00:30:00Z,", "--gaps", "gaps.csv", "--plant-slowdown", "1.25")
        HERE.write("cut.json", cut.out)
        asked = ("--trace", "trace.csv", "--fleet", "fleet.yaml", *SALTED)
        self.assertIn("verified", self.run_ace("verify", "cut.json", *asked, "--gaps", "gaps.csv").text)
        self.refused("verify", "cut.json", *asked, says=["made with --gaps"])
        self.refused("verify", "report.json", *asked[:4], says=["made with --salt-file"])
        HERE.write("unsalted.json", self.run_ace("analyze", "trace.csv", "--fleet", "fleet.yaml", *FAST, "--json").out)
        self.refused("verify", "unsalted.json", *asked[:4], code=1, says=["it was made without --salt-file"])

    def test_nothing_that_is_read_is_written_over(self):
        before = HERE.read("trace.csv"), HERE.read("fleet.yaml")
        (HERE.folder / "linked.csv").unlink(missing_ok=True)
        (HERE.folder / "linked.csv").hardlink_to(HERE.folder / "trace.csv")
        for option, name in (("--requests", "trace.csv"), ("--requests", "linked.csv"), ("--html", "fleet.yaml"), ("--html", "./trace.csv")):
            self.refused("analyze", "trace.csv", "--fleet", "fleet.yaml", *FAST, option, name, says=[option, name, "is an input"])
        self.refused("trace", "convert", "trace.csv", "trace.csv", "--to", "jsonl", says=["is an input"])
        self.refused("trace", "generate", "--profile", "profile.yaml", "--out", "profile.yaml", says=["is an input"])
        self.assertEqual((HERE.read("trace.csv"), HERE.read("fleet.yaml")), before)

    def test_a_report_that_cannot_be_written_is_an_error(self):
        for option in ("--html", "--requests"):
            ran = HERE.run("analyze", "trace.csv", "--fleet", "fleet.yaml", *FAST, option, "no/such/folder/file")
            self.assertEqual(ran.code, 3, ran.err)
            self.assertIn("no/such/folder", ran.err)


class Traces(Case):
    def test_the_same_seed_gives_the_same_bytes(self):
        again = HERE.generate("again_trace.csv").read_bytes()
        self.assertEqual(again, HERE.read("trace.csv"))
        self.run_ace("trace", "generate", "--profile", "profile.yaml", "--seed", "2", "--out", "seed2.csv")
        self.assertNotEqual(HERE.read("seed2.csv"), again)

    def test_conversion_there_and_back_is_the_same_trace(self):
        stats = {}
        names = ("--fleet", "fleet.yaml", *SALTED)
        self.run_ace("trace", "convert", "trace.csv", "base.csv", "--to", "csv", *names)
        for form in ("csv", "jsonl", "ace"):
            self.run_ace("trace", "convert", "trace.csv", f"out.{form}", "--to", form, *names)
            self.run_ace("trace", "convert", f"out.{form}", "back.csv", "--to", "csv", *names)
            self.assertEqual(rows_of(HERE.read("back.csv"))[0]["at"], rows_of(HERE.read("base.csv"))[0]["at"])
            stats[form] = json.loads(self.run_ace("trace", "stats", f"out.{form}", "--json", *names).out)
            stats[form].pop("format", None)
        self.assertEqual(stats["csv"], stats["jsonl"])
        self.assertEqual(stats["csv"], stats["ace"])
        self.assertEqual(self.run_ace("trace", "convert", "trace.csv", "-", "--to", "csv", *names).out, HERE.read("base.csv"))

    def test_stats_count_what_is_there(self):
        rows = rows_of(HERE.read("trace.csv"))
        stats = json.loads(self.run_ace("trace", "stats", "trace.csv", "--json").out)
        self.assertEqual(stats["requests"], len(rows))
        self.assertEqual(stats["prompt"]["tokens"], sum(int(row["prompt"]) for row in rows))
        self.assertEqual(stats["output"]["tokens"], sum(int(row["output"]) for row in rows))
        text = self.run_ace("trace", "stats", "trace.csv").text
        self.assertIn(f"{len(rows):,}".replace(",", ""), text.replace(",", ""))

    def test_a_fitted_profile_generates_a_like_trace(self):
        self.run_ace("trace", "fit", "trace.csv", "--out", "fitted.yaml", "--fleet", "fleet.yaml", *SALTED)
        self.run_ace("trace", "generate", "--profile", "fitted.yaml", "--out", "like.csv")
        rows, like = rows_of(HERE.read("trace.csv")), rows_of(HERE.read("like.csv"))
        self.assertAlmostEqual(len(like) / len(rows), 1.0, delta=0.15)
        middle = [sorted(int(row["prompt"]) for row in some)[len(some) // 2] for some in (rows, like)]
        self.assertAlmostEqual(middle[1] / middle[0], 1.0, delta=0.15)

    def test_what_cannot_be_generated_is_refused(self):
        self.refused("trace", "generate", says=["--profile"])
        HERE.write("odd.yaml", world.PROFILE.replace("rate:", "rat:"))
        self.refused("trace", "generate", "--profile", "odd.yaml", says=["odd.yaml", "rate"])
        self.refused("trace", "generate", "--profile", "profile.yaml", "--days", "3-1", says=["--days"])


class Prices(Case):
    LIST = '{"acme/big": {"mode": "chat", "input_cost_per_token": 3e-06, "output_cost_per_token": 1.5e-05}}'

    def test_show_check_and_diff(self):
        HERE.write("a.json", self.LIST)
        HERE.write("b.json", self.LIST.replace("3e-06", "4e-06"))
        HERE.write("c.json", self.LIST.replace("3e-06", "3e-03"))
        self.assertIn("3", self.run_ace("prices", "show", "acme/big", "--prices", "a.json").text)
        json.loads(self.run_ace("prices", "show", "acme/big", "--prices", "a.json", "--json").out)
        self.refused("prices", "show", "acme/bik", "--prices", "a.json", says=["acme/big"])
        self.run_ace("prices", "check", "a.json")
        self.run_ace("prices", "check", "b.json", "--previous", "a.json")
        self.run_ace("prices", "check", "c.json", "--previous", "a.json", code=1)
        self.assertEqual(self.run_ace("prices", "diff", "a.json", "a.json", "--exit-code").code, 0)
        self.assertIn("acme/big", self.run_ace("prices", "diff", "a.json", "b.json", "--exit-code", code=1).text)
        self.refused("prices", "check", "none.json", code=HERE.run("prices", "diff", "none.json", "a.json").code, says=["none.json"])


    def test_a_catalog_shows_its_offers_and_what_in_it_is_not_believed(self):
        HERE.write("sky.csv", "InstanceType,AcceleratorName,AcceleratorCount,Region,AvailabilityZone,Price,SpotPrice\n"
                   "p4de,A100-80GB,8,us-east-1,us-east-1a,27.45,12.1\nv6e,H200,1,asia,asia-c,700.0,700.0\n")
        text = self.run_ace("prices", "catalog", "sky.csv").text
        for words in ("p4de", "27.45", "line 3: sentinel", "2 rows in the file; 1 offers"):
            self.assertIn(words, text)
        found = json.loads(self.run_ace("prices", "catalog", "sky.csv", "--instance", "p4de", "--json").out)
        self.assertEqual([o["spot_usd_per_h"] for o in found["offers"]], ["12.10"])
        self.assertEqual([f["trap"] for f in found["findings"]], ["alias"], "of this machine alone")
        self.refused("prices", "catalog", "trace.csv", says=["trace.csv"])


class Imports(Case):
    CONFIG = """model_list:
  - model_name: gpt-4o
    litellm_params: {model: azure/mine, api_base: "https://x.openai.azure.com", api_key: os.environ/AZURE_KEY, weight: 2,
                     input_cost_per_token: 0.0000025, output_cost_per_token: 0.00001}
  - {model_name: gpt-4o, litellm_params: {model: gpt-4o, api_key: sk-canary}}
  - {model_name: "openai/*", litellm_params: {model: "openai/*"}}
"""

    def test_a_litellm_configuration_becomes_a_fleet_file_that_passes_its_check(self):
        HERE.write("litellm.yaml", self.CONFIG)
        ran = self.run_ace("import", "litellm", "litellm.yaml", "--out", "imported")
        for words in ("1 models at 2 destinations of 2 providers", "AZURE_KEY", "OPENAI_API_KEY", "litellm.yaml:3: ", "there are no weights",
                      "a wildcard"):
            self.assertIn(words, ran.text)
        self.assertIn("no mistakes", self.run_ace("fleet", "check", "imported/fleet.yaml").text)
        for text in (ran.text, HERE.read("imported/fleet.yaml").decode(), HERE.read("imported/ace.yaml").decode()):
            self.assertNotIn("sk-canary", text)
        self.refused("import", "litellm", "litellm.yaml", "--out", "imported", says=["is there already", "--force"])
        self.run_ace("import", "litellm", "litellm.yaml", "--out", "imported", "--force")

    def test_a_report_is_also_for_machines_and_nothing_is_written_unasked(self):
        HERE.write("litellm.yaml", self.CONFIG)
        report = json.loads(self.run_ace("import", "litellm", "litellm.yaml", "--json").out)
        self.assertEqual((report["models"], report["destinations"], report["providers"]), (1, 2, 2))
        self.assertEqual({f["kind"] for f in report["findings"]}, {"secret", "changed", "left_out"})
        self.assertIn("nothing was written", self.run_ace("import", "litellm", "litellm.yaml").text)

    def test_what_is_no_configuration_is_refused(self):
        HERE.write("litellm.yaml", "models: []\n")
        self.refused("import", "litellm", "litellm.yaml", says=["litellm.yaml:1:1: ", "expected model_list"])
        HERE.write("litellm.yaml", "model_list: [{model_name: a, litellm_params: {model: sagemaker/x}}]\n")
        self.assertEqual(HERE.run("import", "litellm", "litellm.yaml").code, 1)
        self.refused("import", "litellm", "none.yaml", code=3, says=["none.yaml"])


class Fleets(Case):
    def test_check_and_curve(self):
        self.assertIn("no mistakes", self.run_ace("fleet", "check", "fleet.yaml").text)
        self.assertEqual(json.loads(self.run_ace("fleet", "check", "fleet.yaml", "--json").out)["ok"], True)
        table = self.run_ace("fleet", "curve", "fleet.yaml", "--model", "large", "--load", "2000", "--svg", "curve.svg").text
        for destination in ("h100", "alpha", "beta"):
            self.assertIn(destination, table)
        svg = HERE.read("curve.svg").decode("utf-8")
        self.assertTrue(svg.lstrip().startswith("<svg"))
        steps = json.loads(self.run_ace("fleet", "curve", "fleet.yaml", "--model", "large", "--json").out)["steps"]
        costs = [step["usd_per_mtok"] for step in steps]
        self.assertEqual(costs, sorted(costs), "merit order")
        bound = self.run_ace("fleet", "curve", "fleet.yaml", "--model", "large", "--tenant", "shop").text
        self.assertIn("out: alpha", bound)
        self.refused("fleet", "curve", "fleet.yaml", "--model", "lage", says=["large"])
        self.refused("fleet", "curve", "fleet.yaml", "--model", "large", "--load", "-1", says=["--load"])
        self.refused("fleet", "curve", "fleet.yaml", "--model", "large", "--at", "noon", says=["--at"])


class Record(Case):
    def record(self, directory, *arguments, **named):
        return self.analyze("--json", "--record", directory, *arguments, **named)

    def kinds(self, directory):
        counts = {}
        for line in self.run_ace("spine", "export", directory).text.splitlines():
            kind = json.loads(line)["kind"]
            counts[kind] = counts.get(kind, 0) + 1
        return counts

    def test_a_run_lands_on_the_spine_once_however_often_it_is_recorded(self):
        rows = len(rows_of(HERE.read("trace.csv")))
        first = self.record("spine-once")
        self.assertIn("under fleet snapshot 1, 0 were there already", first.err)
        kinds = self.kinds("spine-once")
        for kind in ("admitted", "completed"):
            self.assertEqual(kinds[kind], rows)
        self.assertGreaterEqual(kinds["decided"], rows)
        self.assertGreaterEqual(kinds["attempted"], kinds["first_token"])
        self.assertEqual(kinds["fleet_changed"], 1)
        again = self.record("spine-once", "--threads", "2")
        self.assertIn("ace: 0 events recorded in spine-once under fleet snapshot 1", again.err)
        self.assertEqual(again.out, first.out)
        self.run_ace("verify", "spine-once")
        HERE.write("other.yaml", world.FLEET.replace("rpm: 30", "rpm: 40"))
        self.assertIn("under fleet snapshot 2, 0 were there already", self.record("spine-once", fleet="other.yaml").err)
        self.assertEqual(self.kinds("spine-once")["admitted"], 2 * rows)

    def test_a_run_that_is_not_recorded_is_no_other_for_it(self):
        plain = self.analyze("--json").out
        self.record("spine-beside")
        self.assertEqual(self.analyze("--json").out, plain)

    def test_the_rows_of_a_recorded_run_add_up_to_its_report(self):
        report = json.loads(self.record("spine-rows", "--requests", "rows.csv").out)
        actual = sum(decimal.Decimal(row["c4_usd"]) for row in rows_of(HERE.read("rows.csv")))
        self.assertEqual(actual, decimal.Decimal(report["headline"]["actual_marginal_usd"]))
        HERE.write("recorded.json", json.dumps(report))
        self.run_ace("verify", "recorded.json", "--trace", "trace.csv", "--fleet", "fleet.yaml", *SALTED)

    def test_the_spine_of_a_run_holds_no_name_of_a_person_and_no_secret(self):
        HERE.write("keyed.yaml", world.FLEET.replace(
            "alpha: {jurisdictions: [us],", "alpha: {jurisdictions: [us], key: {env: ACE_TEST_KEY},"))
        self.record("spine-masked", fleet="keyed.yaml", env={"ACE_TEST_KEY": "sk-very-secret"})
        for path in (HERE.folder / "spine-masked").rglob("*"):
            if path.is_file():
                for word in (b"Jane", b"/C calc", b"sk-very-secret"):
                    self.assertNotIn(word, path.read_bytes(), path)

    def test_names_without_a_stable_mask_are_refused(self):
        self.refused("analyze", "trace.csv", "--fleet", "fleet.yaml", *FAST, "--record", "spine-random",
                     says=["--salt-file", "random for this run"])

class LedgerOfASpine(Case):
    SAME = ("headline", "waterfall", "levers", "unattributed", "service", "goodput", "gates", "fixed_cost", "chargeback",
            "settlement", "slo_classes", "window")

    def recorded(self, directory, *arguments, **named):
        return json.loads(self.analyze("--json", "--record", directory, *arguments, **named).out)

    def report(self, directory, *arguments, **named):
        return json.loads(self.run_ace("ledger", "report", directory, "--json", *arguments, **named).text)

    def test_a_recorded_run_folds_to_the_report_of_the_run(self):
        for policies in ((), ("--settlement", "clearing", "--idle", "even")):
            live, folded = self.recorded("ledger-same", *policies), self.report("ledger-same", *policies)
            for one in (live, folded):
                one["service"].pop("held_back_requests")  # who waits is no event: a spine has nobody who counts them
            for section in self.SAME:
                self.assertEqual(live[section], folded[section], section)
            for one in live["baselines"]:
                if one["baseline"] != "status-quo":
                    self.assertIn(one, folded["baselines"])
            for ours, theirs in zip(live["destinations"], folded["destinations"]):
                for figure in ("destination", "requests", "tokens", "marginal_usd", "fixed_usd"):
                    self.assertEqual(ours[figure], theirs[figure])
        self.assertEqual(sum(decimal.Decimal(b["usd"]) for b in folded["ledger"]["balances"]), 0)
        self.assertIn("LEDGER", self.run_ace("ledger", "report", "ledger-same").text)

    def test_a_view_goes_on_where_it_stands_and_is_never_trusted_over_the_log(self):
        self.recorded("ledger-view")
        view = HERE.folder / "ledger-view" / "ledger.view"
        first = self.report("ledger-view")
        self.assertTrue(view.exists())
        HERE.write("more.yaml", world.FLEET.replace("rpm: 30", "rpm: 45"))
        self.recorded("ledger-view", fleet="more.yaml")
        # Two fleets over one time are what-ifs, each for itself.
        self.refused("ledger", "report", "ledger-view", says=["choose one, --snapshot 1 or --snapshot 2"])

        def reports():
            return [self.report("ledger-view", "--snapshot", str(number)) for number in (1, 2)]
        both = reports()
        self.assertEqual(both[0]["service"], first["service"])
        self.assertEqual(both[1]["service"]["requests"], first["service"]["requests"])
        self.assertIn("has the same bytes", self.run_ace("ledger", "rebuild", "ledger-view").text)
        good = view.read_bytes()
        for wrong in (b"", good[:-1], good[:200] + bytes([good[200] ^ 1]) + good[201:]):
            view.write_bytes(wrong)
            self.assertEqual(reports(), both)
            self.assertEqual(view.read_bytes(), good)
        # A view of another log, and one of a log that was longer, are made again.
        self.recorded("ledger-other", "--seed", "9")
        self.report("ledger-other")
        view.write_bytes((HERE.folder / "ledger-other" / "ledger.view").read_bytes())
        self.assertEqual(reports(), both)
        self.assertIn("has the same bytes", self.run_ace("ledger", "rebuild", "ledger-view").text)
        self.run_ace("verify", "ledger-view")

    def test_who_pays_is_read_off_a_spine(self):
        live = self.recorded("ledger-pays")
        for by in ("tenant,team,model,destination", "hour,destination", ""):
            rows = rows_of(self.run_ace("ledger", "chargeback", "--spine", "ledger-pays", "--by", by).out)
            self.assertEqual(sum(decimal.Decimal(row["total_usd"]) for row in rows),
                             decimal.Decimal(live["headline"]["actual_fully_loaded_usd"]))
            if by.startswith("tenant"):
                lines = [(r["tenant"], r["team"], r["model"], r["destination"], r["total_usd"])
                         for r in rows if r["kind"] == "usage"]
                self.assertEqual(lines, [tuple(c[k] for k in ("tenant", "team", "model", "destination", "total_usd"))
                                         for c in live["chargeback"]])
        self.run_ace("ledger", "focus", "--spine", "ledger-pays", "--focus-version", "1.3")
        self.refused("ledger", "chargeback", says=["--spine DIR"])
        self.refused("ledger", "chargeback", "trace.csv", "--fleet", "fleet.yaml", "--spine", "ledger-pays",
                     says=["--spine"])

    def test_a_report_is_held_against_the_spine_it_was_made_from(self):
        self.recorded("ledger-claim")
        claims = {}
        for name, policies in (("plain", ()), ("other", ("--settlement", "clearing", "--idle", "even"))):
            claims[name] = self.run_ace("ledger", "report", "ledger-claim", "--json", *policies).text
            HERE.write(f"claim-{name}.json", claims[name])
            self.assertIn("every field of", self.run_ace("verify", "ledger-claim", "--report", f"claim-{name}.json").text)
        ran = json.loads(self.run_ace("verify", "ledger-claim", "--report", "claim-plain.json", "--json").text)
        self.assertEqual((ran["verified"], ran["report"]["equal"]), (True, True))
        honest = json.loads(claims["plain"])
        cents = {"headline/counted_saving_usd": lambda r: r["headline"].__setitem__("counted_saving_usd", "999"),
                 "ledger/balances": lambda r: r["ledger"]["balances"].pop(),
                 "chargeback/0/total_usd": lambda r: r["chargeback"][0].__setitem__("total_usd", "0"),
                 "source/settlement": lambda r: r["source"].__setitem__("settlement", "as-you-like")}
        for path, forge in cents.items():
            forged = json.loads(claims["plain"])
            forge(forged)
            if forged == honest:
                self.fail(f"{path} is not in a report")
            HERE.write("claim-forged.json", json.dumps(forged))
            self.refused("verify", "ledger-claim", "--report", "claim-forged.json", code=1,
                         says=["does not follow from ledger-claim", "/" + path])
        said = json.loads(self.run_ace("verify", "ledger-claim", "--report", "claim-forged.json", "--json", code=1).text)
        self.assertFalse(said["verified"])
        self.assertTrue(said["differences"])
        # A later report of the same log does not make the earlier one wrong, and one of more than there is is refused.
        HERE.write("later.yaml", world.FLEET.replace("rpm: 30", "rpm: 45"))
        self.recorded("ledger-claim", fleet="later.yaml")
        self.run_ace("verify", "ledger-claim", "--report", "claim-plain.json")
        forged = json.loads(claims["plain"])
        forged["ledger"]["records"] = 10**9
        HERE.write("claim-forged.json", json.dumps(forged))
        self.refused("verify", "ledger-claim", "--report", "claim-forged.json", code=1, says=["1000000000"])
        HERE.write("claim-forged.json", "{}")
        self.refused("verify", "ledger-claim", "--report", "claim-forged.json", says=["no report of a ledger"])
        self.refused("verify", "claim-plain.json", "--report", "claim-plain.json", says=["--report is for a spine"])

    def test_cells_of_settled_days_are_closed_once_and_verified(self):
        self.recorded("ledger-close")
        before = self.report("ledger-close")
        self.assertIn("0 cells closed", self.run_ace("ledger", "close", "ledger-close").text, "its day has not ended")
        said = self.run_ace("ledger", "close", "ledger-close", "--until", "2026-01-08T00:00:00Z").text
        cells = int(re.match(r"(\d+) cells closed", said).group(1))
        self.assertGreaterEqual(cells, 6)
        self.assertIn("0 cells closed",
                      self.run_ace("ledger", "close", "ledger-close", "--until", "2026-01-08T00:00:00Z").text, "once only")
        after = self.report("ledger-close")
        self.assertEqual(after["ledger"]["cells_closed"], cells)
        for section in self.SAME:
            self.assertEqual(before[section], after[section], section)
        verified = json.loads(self.run_ace("verify", "ledger-close", "--json").text)
        self.assertEqual(verified["decisions"]["cells_closed"], cells)
        self.refused("ledger", "close", "ledger-close", "--until", "tomorrow", says=["--until"])
        self.refused("ledger", "close", "nowhere", says=["nowhere"])

    def test_a_pruned_spine_has_its_ledger_from_the_view_or_with_its_archive(self):
        self.recorded("ledger-whole")
        events = [json.loads(line)["event_base64"] for line in self.run_ace("spine", "export", "ledger-whole").text.splitlines()]
        self.run_ace("spine", "append", "ledger-small", "--stdin", "--segment-bytes", "262144",
                     stdin="".join(e + "\n" for e in events).encode())
        shutil.copytree(HERE.folder / "ledger-whole" / "files", HERE.folder / "ledger-small" / "files")
        HERE.write("small.json", self.run_ace("ledger", "report", "ledger-small", "--json").text)
        want = json.loads(HERE.read("small.json"))
        for section in self.SAME:
            self.assertEqual(want[section], self.report("ledger-whole")[section], section)
        view = HERE.folder / "ledger-small" / "ledger.view"
        view.unlink()
        replayed = ("analyze", "--spine", "ledger-small", "--sensitivity", "off", "--json")
        before = self.run_ace(*replayed).text
        self.run_ace("spine", "archive", "ledger-small", "ledger-kept")
        self.run_ace("spine", "prune", "ledger-small", "--to", "2", "--archive", "ledger-kept")
        self.assertTrue(view.exists(), "brought up to date before its records went")
        self.assertEqual(self.report("ledger-small"), want)
        self.refused("ledger", "rebuild", "ledger-small", says=["--archive"])
        self.assertIn("has the same bytes", self.run_ace("ledger", "rebuild", "ledger-small", "--archive", "ledger-kept").text)
        self.run_ace("verify", "ledger-small", "--archive", "ledger-kept", "--report", "small.json")
        view.unlink()
        self.refused("ledger", "report", "ledger-small", says=["--archive"])
        self.assertEqual(self.report("ledger-small", "--archive", "ledger-kept"), want)
        # Recorded arrivals are replayed from both as from the whole log.
        self.assertEqual(self.run_ace(*replayed, "--archive", "ledger-kept").text, before)
        self.refused(*replayed, says=["no fleet is recorded"])
        self.refused("analyze", "trace.csv", "--fleet", "fleet.yaml", "--archive", "ledger-kept", says=["--archive goes with --spine"])
        HERE.write("all.yaml", "budgets: {all: {window: total, limit: \"1 USD\"}}\n")
        told = self.run_ace("ledger", "budget", "ledger-small", "--archive", "ledger-kept", "--fleet", "all.yaml", "--json").text
        self.assertEqual(json.loads(told)["budgets"][0]["spent_usd"], want["headline"]["actual_marginal_usd"])

    def test_budgets_are_declared_in_the_fleet_file_and_counted_from_the_events(self):
        HERE.write("budgets.yaml", world.FLEET + "budgets:\n"
                   "  all: {window: total, limit: \"1000000 USD\"}\n"
                   "  tiny: {window: total, limit: \"0.000001 USD\", enforce: soft}\n")
        live = self.recorded("ledger-budget", fleet="budgets.yaml")
        told = json.loads(self.run_ace("ledger", "budget", "ledger-budget", "--json").text)["budgets"]
        self.assertEqual([row["budget"] for row in told], ["all", "tiny"])
        for row in told:
            self.assertEqual(row["spent_usd"], live["headline"]["actual_marginal_usd"])
            self.assertEqual(decimal.Decimal(row["held_usd"]), 0)
        self.assertIsNone(told[0]["crossed"])
        self.assertIsNotNone(told[1]["crossed"])
        self.assertIn("tiny", self.run_ace("ledger", "budget", "ledger-budget").text)
        view = HERE.folder / "ledger-budget" / "budgets.view"
        good = view.read_bytes()
        for wrong in (good, good[:-1], b""):  # used if it is sound, and made again if not
            view.write_bytes(wrong)
            self.assertEqual(json.loads(self.run_ace("ledger", "budget", "ledger-budget", "--json").text)["budgets"], told)
            self.assertEqual(view.read_bytes(), good)
        HERE.write("try.yaml", world.FLEET + "budgets: {hourly: {window: hour, limit: \"1 USD\"}}\n")
        tried = json.loads(self.run_ace("ledger", "budget", "ledger-budget", "--fleet", "try.yaml", "--all", "--json").text)
        self.assertEqual(sum(decimal.Decimal(row["spent_usd"]) for row in tried["budgets"]),
                         decimal.Decimal(live["headline"]["actual_marginal_usd"]))
        HERE.write("wrong.yaml", world.FLEET + "budgets: {a: {window: week, limit: \"0 USD\"}, b: {tenant: nobody}}\n")
        for command, code in ((("ledger", "budget", "ledger-budget", "--fleet", "wrong.yaml"), 2), (("fleet", "check", "wrong.yaml"), 1)):
            self.refused(*command, code=code, says=["week", "above zero", "there is no tenant \"nobody\"", "window: month"])

    def test_an_empty_log_is_an_empty_report_and_a_directory_without_one_is_refused(self):
        self.run_ace("spine", "append", "ledger-empty", "--stdin", stdin=b"")
        self.assertEqual(self.report("ledger-empty")["service"]["requests"], 0)
        self.run_ace("ledger", "rebuild", "ledger-empty")
        self.assertIn("no budgets", self.run_ace("ledger", "budget", "ledger-empty").text)
        HERE.folder.joinpath("ledger-none").mkdir()
        self.refused("ledger", "report", "ledger-none", code=2)


class Ingest(Case):
    @staticmethod
    def spend(n, **changes):
        row = {"request_id": f"chatcmpl-{n}", "startTime": f"2026-01-05T00:00:{n:02d}Z", "endTime": f"2026-01-05T00:01:{n:02d}Z",
               "completionStartTime": f"2026-01-05T00:00:{n:02d}.400Z", "model": "large", "custom_llm_provider": "beta",
               "team_id": "search", "organization_id": "shop", "prompt_tokens": 1000, "completion_tokens": 100,
               "spend": 0.00165, "status": "success", "cache_hit": "False", "user": "jane@example.org"}
        return json.dumps(row | changes) + "\n"

    def ingest(self, log, directory, *arguments, **named):
        HERE.write("spend.jsonl", log)
        return self.run_ace("ingest", "spend.jsonl", "--fleet", "fleet.yaml", "--spine", directory, "--json", *SALTED, *arguments,
                            **named)

    def test_a_spend_log_lands_on_the_spine_once_however_often_it_is_ingested(self):
        log = self.spend(1) + self.spend(2, custom_llm_provider="nobody") + self.spend(3, status="failure") + \
            self.spend(4, cache_hit="True") + self.spend(5, model="unheard-of")
        first = json.loads(self.ingest(log, "spine-spend").out)
        self.assertEqual((first["rows"], first["requests_recorded"]), (5, 4))
        self.assertEqual(first["destination"], {"known": 2, "not_named": 0, "not_in_fleet": 1, "ambiguous": 0})
        self.assertEqual([u["requests"] for u in first["left_out"]], [1])
        # The fleet, a tenant, a team; of each request its admission and end; three attempts, two first tokens, a cache hit.
        self.assertEqual(first["events_created"], 3 + 2 * 4 + 3 + 2 + 1)
        again = json.loads(self.ingest(log + self.spend(6), "spine-spend").out)
        self.assertEqual((again["events_created"], again["events_existing"]), (4, 2 * 4 + 3 + 2 + 1))
        self.run_ace("verify", "spine-spend")

    def test_a_row_that_changed_is_kept_apart_and_counted(self):
        self.ingest(self.spend(1), "spine-changed")
        ran = self.ingest(self.spend(1, spend=0.5), "spine-changed", code=2)
        self.assertIn("1 events differ from what spine-changed holds under the same ids", ran.err)
        self.assertIn("conflicts    1\n", self.run_ace("spine", "stat", "spine-changed").text)

    def test_rows_without_an_id_are_never_each_other(self):
        log = b"at,model,tenant,prompt,output\n" + 2 * b"2026-01-05T00:00:01Z,large,shop,10,2\n"
        for created, existing in ((8, 0), (0, 6)):
            HERE.write("plain.csv", log)
            ran = json.loads(self.run_ace("ingest", "plain.csv", "--fleet", "fleet.yaml", "--spine", "spine-plain", "--tz", "UTC",
                                          "--json").out)
            self.assertEqual((ran["events_created"], ran["events_existing"]), (created, existing))

    def test_ids_and_names_need_a_key_that_stays(self):
        HERE.write("spend.jsonl", self.spend(1))
        self.refused("ingest", "spend.jsonl", "--fleet", "fleet.yaml", "--spine", "spine-keyless",
                     says=["have ids of their own", "--salt-file"])

    def test_no_raw_identity_lands_on_the_spine(self):
        self.ingest(self.spend(1, organization_id="", team_id=""), "spine-people")
        for path in (HERE.folder / "spine-people").rglob("*"):
            if path.is_file():
                self.assertNotIn(b"jane", path.read_bytes(), path)
                self.assertNotIn(b"chatcmpl", path.read_bytes(), path)


    def test_what_a_log_says_it_cost_is_what_it_cost_and_is_held_against_the_prices(self):
        # beta asks 1000 x 1.30 + 100 x 3.50 = 1,650 millionths, alpha, the default, 1000 x 1 + 100 x 4 = 1,400.
        labs = {"organization_id": "labs", "team_id": ""}
        self.ingest(self.spend(1, **labs) + self.spend(2, spend=0.002, **labs) +
                    self.spend(3, custom_llm_provider="nobody", spend=0.001, **labs) +
                    self.spend(4, custom_llm_provider="nobody", spend=None, **labs), "spine-logged")
        report = json.loads(self.run_ace("ledger", "report", "spine-logged", "--json").text)
        self.assertEqual(report["headline"]["grade"], "observed")
        self.assertEqual(report["headline"]["actual_marginal_usd"], "0.00465")
        self.assertEqual(report["headline"]["baseline_usd"], "0.0042", "of the last nobody knows what it cost")
        ledger = report["ledger"]
        self.assertEqual(ledger["grade"], "observed")
        self.assertEqual({k: v for k, v in ledger["logged_costs"].items() if k != "by_provider_and_model"},
                         {"requests": 2, "logged_usd": "0.00365", "by_prices_usd": "0.0033", "difference_usd": "0.00035"})
        self.assertEqual([(line["provider"], line["model"]) for line in ledger["logged_costs"]["by_provider_and_model"]],
                         [("beta", "large")])
        owed = {(b["account"], b["owner"]): b["usd"] for b in ledger["balances"]}
        self.assertEqual(owed, {("spent", "labs"): "0.00465", ("destination", "beta"): "-0.00365", ("elsewhere", ""): "-0.001"})
        rows = rows_of(self.run_ace("ledger", "reconcile", "--spine", "spine-logged", "--logged", code=1).out)
        self.assertEqual([(r["provider"], r["model"], r["state"], r["difference"]) for r in rows if r["figure"] == "cost_usd"],
                         [("beta", "large", "differs", "-0.00035")])
        self.ingest(self.spend(1), "spine-as-listed")
        self.assertIn(",equal,", self.run_ace("ledger", "reconcile", "--spine", "spine-as-listed", "--logged").text)
        self.refused("ledger", "reconcile", "--spine", "spine-logged", says=["--bill FILE, or --logged"])
        self.refused("ledger", "reconcile", "trace.csv", "--fleet", "fleet.yaml", "--logged", says=["--spine DIR"])
        tail = self.run_ace("spine", "tail", "spine-logged", "-n", "3").text
        said = self.run_ace("explain", re.search(r"completed (\w{26})", tail).group(1), "--spine", "spine-logged").text
        self.assertIn("grade observed", said)

    def test_whoever_a_row_belongs_to_is_charged_and_has_a_budget(self):
        HERE.write("owned.csv", "at,model,tenant,team,project,api_key,provider,prompt,output,cost_usd\n" + "".join(
            f"2026-01-05T00:00:{i:02d}Z,large,shop,search,{project},{key},beta,1000,100,0.001\n"
            for i, (project, key) in enumerate([("checkout", "sk-1"), ("checkout", "sk-2"), ("secret", "sk-2"), ("", "")])))
        fleet = world.FLEET.replace("teams: [search, ads],", "teams: [search, ads], projects: [checkout],")
        HERE.write("projects.yaml", fleet)
        self.run_ace("ingest", "owned.csv", "--fleet", "projects.yaml", "--spine", "spine-owned", "--tz", "UTC", *SALTED)
        rows = rows_of(self.run_ace("ledger", "chargeback", "--spine", "spine-owned", "--by", "project").out)
        by_project = {r["project"]: r["marginal_usd"] for r in rows}
        hidden = [name for name in by_project if name not in ("", "checkout")]
        self.assertEqual(len(hidden), 1)
        self.assertRegex(hidden[0], "^t_[0-9a-z]{10}$", "nobody declared that project")
        self.assertEqual(by_project, {"checkout": "0.002", hidden[0]: "0.001", "": "0.001"})
        for word in (b"sk-1", b"sk-2", b"secret"):
            for path in (HERE.folder / "spine-owned").rglob("*"):
                if path.is_file():
                    self.assertNotIn(word, path.read_bytes(), path)
        # A budget of a key names its mask.
        self.run_ace("trace", "convert", "owned.csv", "owned-masked.csv", "--to", "csv", "--tz", "UTC", *SALTED)
        key = rows_of(HERE.read("owned-masked.csv"))[1]["api_key"]
        HERE.write("owned-budgets.yaml", "budgets:\n"
                   f"  by-key: {{key: {key}, window: total, limit: \"1 USD\"}}\n"
                   f"  by-project: {{project: checkout, window: total, limit: \"1 USD\"}}\n")
        told = json.loads(self.run_ace("ledger", "budget", "spine-owned", "--fleet", "owned-budgets.yaml", "--json").text)["budgets"]
        self.assertEqual({b["budget"]: (b["requests"], b["spent_usd"]) for b in told},
                         {"by-key": (2, "0.002"), "by-project": (2, "0.002")})
        self.refused("ingest", "owned.csv", "--fleet", "projects.yaml", "--spine", "spine-unowned", "--tz", "UTC",
                     says=["names a key", "--salt-file"])
        # A replay has owners as well.
        rows = rows_of(self.run_ace("ledger", "chargeback", "owned.csv", "--fleet", "projects.yaml", "--tz", "UTC", *SALTED,
                                    "--by", "project").out)
        self.assertEqual({r["project"] for r in rows if r["kind"] == "usage"}, set(by_project))


class FromSpine(Case):
    """A spine as one more trace: what was recorded, replayed."""

    @classmethod
    def setUpClass(cls):
        rows = HERE.read("trace.csv").split(b"\n")
        # Without prefix blocks, which no spine holds.
        head = rows[0].split(b",")
        keep = [i for i, name in enumerate(head) if name != b"blocks"]
        HERE.write("plain-trace.csv", b"\n".join(b",".join(row.split(b",")[i] for i in keep) for row in rows if row) + b"\n")
        ran = HERE.run("analyze", "plain-trace.csv", "--fleet", "fleet.yaml", *FAST, *SALTED, "--json", "--record", "spine-played")
        assert ran.code == 0, ran.err
        cls.recorded = json.loads(ran.out)

    def test_the_recorded_arrivals_come_out_as_they_were_on_the_fleet_they_ran_on(self):
        again = json.loads(self.run_ace("analyze", "--spine", "spine-played", *FAST, "--json").out)
        self.assertEqual(again["source"]["format"], "ACE event spine")
        self.assertEqual(again["source"]["fleet"], "fleet.yaml")
        seen = again["realised"]
        self.assertEqual(seen["requests_decided"], self.recorded["service"]["requests"])
        self.assertEqual(seen["fleet_snapshots"], [{"snapshot": 1, "requests": self.recorded["service"]["requests"]}])
        total = seen["total"]
        self.assertEqual(total["realised"]["marginal_usd"], self.recorded["headline"]["actual_marginal_usd"])
        self.assertEqual(total["realised"]["fixed_usd"], self.recorded["headline"]["fixed_usd"])
        self.assertEqual(total["realised"]["slo_share"], self.recorded["service"]["slo_share"])
        # The same brain in the same world. Requests that were refused have no output to replay, so it is a little emptier.
        then, now = (float(total[side]["marginal_usd"]) for side in ("realised", "predicted"))
        self.assertEqual(total["predicted"]["requests"], total["realised"]["served"])
        self.assertLess(abs(now - then), 0.05 * then)

    def test_another_fleet_gets_the_same_arrivals(self):
        HERE.write("no-beta.yaml", "\n".join(line for line in world.FLEET.splitlines() if "id: beta" not in line) + "\n")
        report = json.loads(self.run_ace("analyze", "--spine", "spine-played", "--fleet", "no-beta.yaml", *FAST, "--json").out)
        names = {part["destination"]: part for part in report["realised"]["by_destination"]}
        self.assertEqual(names["beta"]["predicted"]["served"], 0)
        self.assertGreater(names["beta"]["realised"]["served"], 0)
        page = self.run_ace("analyze", "--spine", "spine-played", *FAST).text
        self.assertIn("PREDICTED AGAINST REALISED", page)

    def test_verify_repeats_a_report_of_a_spine(self):
        HERE.write("spine-report.json", self.run_ace("analyze", "--spine", "spine-played", "--fleet", "fleet.yaml", *FAST, "--json").out)
        self.run_ace("verify", "spine-report.json", "--trace", "spine-played", "--fleet", "fleet.yaml")

    def test_a_spine_can_be_counted_and_converted_like_any_trace(self):
        rows = len(rows_of(HERE.read("plain-trace.csv")))
        stats = json.loads(self.run_ace("trace", "stats", "spine-played", "--json").out)
        self.assertEqual(stats["requests"], rows)
        self.run_ace("trace", "convert", "spine-played", "converted.csv", "--to", "csv")
        self.assertEqual(len(rows_of(HERE.read("converted.csv"))), rows)

    def test_what_was_only_seen_is_compared_at_its_logged_cost(self):
        HERE.write("seen.jsonl", "".join(Ingest.spend(n) for n in range(1, 50)))
        self.run_ace("ingest", "seen.jsonl", "--fleet", "fleet.yaml", "--spine", "spine-seen", *SALTED)
        total = json.loads(self.run_ace("analyze", "--spine", "spine-seen", *FAST, "--json").out)["realised"]["total"]["realised"]
        self.assertEqual((total["served"], total["marginal_usd"]), (49, "0.08085"))
        self.assertAlmostEqual(total["ttft_s_p50"], 0.4)
        self.assertEqual(total["slo_share"], 0.0, "0.6 s a token")
        HERE.write("untimed.csv", b"at,model,tenant,prompt,output\n2026-01-05T00:00:01Z,large,shop,10,2\n")
        self.run_ace("ingest", "untimed.csv", "--fleet", "fleet.yaml", "--spine", "spine-untimed", "--tz", "UTC")
        total = json.loads(self.run_ace("analyze", "--spine", "spine-untimed", *FAST, "--json").out)["realised"]["total"]["realised"]
        self.assertIsNone(total["slo_share"], "nobody knows whether a limit was met")

    def test_what_is_no_sound_spine_is_refused(self):
        self.refused("analyze", "--spine", "spine-played", "trace.csv", says=["not both"])
        self.refused("analyze", "trace.csv", "--fleet", "fleet.yaml", "--snapshot", "1", says=["--snapshot goes with --spine"])
        self.refused("analyze", "--fleet", "fleet.yaml", says=["trace is required"])
        self.refused("analyze", "--spine", "nowhere", says=["nowhere"], code=2)
        broken = HERE.folder / "spine-broken"
        shutil.copytree(HERE.folder / "spine-played", broken)
        segment = broken / "00000001.seg"
        data = bytearray(segment.read_bytes())
        data[5_000] ^= 1  # BAD_INPUTS G02
        segment.write_bytes(data)
        self.refused("analyze", "--spine", "spine-broken", *FAST, says=["segment 1, offset"])
        gone = HERE.folder / "spine-gone"
        shutil.copytree(HERE.folder / "spine-played", gone)
        for file in (gone / "files").iterdir():
            file.unlink()
        self.refused("analyze", "--spine", "spine-gone", *FAST, says=["compiling snapshot 1 again", "is missing", "fleet.yaml"])


class Ledger(Case):
    def ledger(self, command, *arguments, **named):
        return self.run_ace("ledger", command, "trace.csv", "--fleet", "fleet.yaml", *SALTED, *arguments, **named)

    def total(self):
        report = json.loads(self.analyze("--json").out)
        return decimal.Decimal(report["headline"]["actual_fully_loaded_usd"])

    def test_the_chargeback_has_the_total_of_the_report_under_every_grouping(self):
        want = self.total()
        for by in ("", "tenant", "team,model", "hour,destination", "hour,tenant,team,project,model,destination,slo_class"):
            rows = rows_of(self.ledger("chargeback", "--by", by).out)
            self.assertEqual(sum(decimal.Decimal(row["total_usd"]) for row in rows), want, by)
        self.refused("ledger", "chargeback", "trace.csv", "--fleet", "fleet.yaml", "--by", "floor",
                     says=["--by", "expected keys of hour, tenant, team, project, model, destination, slo_class"])

    def test_a_focus_export_keeps_the_rules_and_the_total(self):
        want = self.total()
        for version in ("1.2", "1.3"):
            out = self.ledger("focus", "--focus-version", version).out
            self.assertEqual(sum(decimal.Decimal(row["EffectiveCost"]) for row in rows_of(out)), want)
            HERE.write("focus.csv", out)
            ran = self.run_ace("ledger", "focus-check", "focus.csv", "--focus-version", version)
            self.assertIn("rows keep the rules of FOCUS " + version, ran.text)
        HERE.write("broken.csv", out.replace(b",USD,", b",usd,", 1))
        self.refused("ledger", "focus-check", "broken.csv", "--focus-version", "1.3", code=1,
                     says=["row 1, BillingCurrency"])

    def test_a_bill_is_compared_by_provider_model_and_day(self):
        rows = [row for row in rows_of(self.ledger("chargeback", "--by", "hour,destination,model").out)
                if row["destination"] == "alpha"]
        days = {}
        for row in rows:
            day = days.setdefault((row["hour"][:10], row["model"]), [0, decimal.Decimal(0)])
            day[0] += int(row["requests"])
            day[1] += decimal.Decimal(row["marginal_usd"])
        bill = "day,model,requests,cost_usd\n" + "".join(f"{d},{m},{n},{c}\n" for (d, m), (n, c) in days.items())
        HERE.write("bill.csv", bill.encode())
        same = rows_of(self.ledger("reconcile", "--bill", "bill.csv", "--provider", "alpha").out)
        self.assertEqual({row["state"] for row in same}, {"equal"})
        HERE.write("bill.csv", (bill + "2020-01-01,large,1,0.5\n").encode())
        ran = self.ledger("reconcile", "--bill", "bill.csv", "--provider", "alpha", code=1)
        self.assertEqual([row["theirs"] for row in rows_of(ran.out) if row["state"] == "only_theirs"], ["1", "0.50"])
        self.refused("ledger", "reconcile", "trace.csv", "--fleet", "fleet.yaml", "--bill", "bill.csv",
                     says=['missing column "provider"'])


if __name__ == "__main__":
    HERE = world.World(sys.argv.pop(1))
    HERE.generate("trace.csv")
    try:
        unittest.main()
    finally:
        HERE.close()
