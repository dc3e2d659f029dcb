#!/usr/bin/env python3
"""The event spine as its users meet it: damaged ledger files, locks, proofs without the log, archives. Ids are those of our list
of bad inputs.

    spine_test.py ACE [unittest arguments]
"""
import base64
import csv
import decimal
import hashlib
import io
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import spine_events
import spine_insider
import world

ACE = None
HEAD = 512


class Case(unittest.TestCase):
    """Each test has a log of 400 events in segments of 17 KB of its own; the log is made once."""

    @classmethod
    def setUpClass(cls):
        cls.made = tempfile.TemporaryDirectory()
        cls.sound = pathlib.Path(cls.made.name) / "sound"
        cls.append(cls, cls.sound, 1, 400)

    @classmethod
    def tearDownClass(cls):
        cls.made.cleanup()

    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        self.here = pathlib.Path(self.scratch.name)
        self.log = self.here / "log"
        shutil.copytree(self.sound, self.log)

    def append(self, log, seed, count, *more, code=0, now_ms=1_790_000_000_000):
        events = spine_events.events(seed, count, now_ms=now_ms)
        lines = b"".join(base64.b64encode(e) + b"\n" for e in events)
        ran = subprocess.run([ACE, "spine", "append", log, "--stdin", "--segment-bytes", "17408", *more], input=lines,
                             capture_output=True, check=False)
        assert ran.returncode == code, ran.stderr.decode()
        return ran

    def ace(self, *arguments, code=0):
        ran = subprocess.run([ACE, *map(str, arguments)], capture_output=True, text=True, check=False)
        self.assertEqual(ran.returncode, code, f"ace {arguments}\n{ran.stdout}{ran.stderr}")
        return ran

    def refused(self, *arguments, code=2, says=()):
        ran = self.ace(*arguments, code=code)
        self.assertEqual(len(ran.stderr.splitlines()), 1, ran.stderr)
        for words in says:
            self.assertIn(words, ran.stderr)
        return ran

    def segments(self):
        return sorted(self.log.glob("*.seg"))

    def edit(self, path, change):
        data = bytearray(path.read_bytes())
        change(data)
        path.write_bytes(data)

    def key(self, log=None):
        ran = self.ace("spine", "checkpoint", log or self.log)
        return re.search(r"[0-9a-f]{64}", ran.stderr).group(), ran.stdout


class LedgerFiles(Case):
    def test_G01_a_torn_tail_is_cut_unless_it_was_acknowledged(self):
        last = self.segments()[-1]
        used = len(last.read_bytes().rstrip(b"\0"))
        for tail in (b"ACE1abcd\xff\xff\xff\xff" + b"x" * 60, b"ACE1ab", b"\0" * 512 + b"y" * 100):
            free = (len(last.read_bytes().rstrip(b"\0")) + 7) // 8 * 8

            def torn(data, tail=tail, free=free):
                data[free:free + len(tail)] = tail
            self.edit(last, torn)
            self.assertIn("unfinished", self.ace("verify", self.log).stdout)
            ran = self.append(self.log, 2, 0)
            self.assertIn(b"which nobody was told were durable", ran.stderr)
            self.ace("verify", self.log)
        # What was acknowledged is not cut: neither damaged nor filled with zeros.
        for change in (lambda data: data.__setitem__(used - 1, data[used - 1] ^ 1),
                       lambda data: data.__setitem__(slice(used - 8, used), b"\0" * 8)):
            shutil.copy(self.sound / last.name, last)
            self.edit(last, change)
            self.append(self.log, 2, 0, code=2)
            self.refused("verify", self.log, code=1, says=[last.name, "offset"])

    def test_G02_a_changed_bit_a_swap_or_another_log_is_refused_with_segment_and_offset(self):
        first, second = self.segments()[:2]
        self.edit(first, lambda data: data.__setitem__(HEAD + 50, data[HEAD + 50] ^ 4))
        self.refused("verify", self.log, code=1, says=["00000001.seg, offset 512"])
        self.refused("spine", "stat", self.log, says=["segment 1, offset 512"])
        shutil.copy(self.sound / first.name, first)

        def swap(data):
            sizes = [(40 + int.from_bytes(data[HEAD + 8:HEAD + 12], "little") + 7) // 8 * 8]
            at = HEAD + sizes[0]
            sizes.append((40 + int.from_bytes(data[at + 8:at + 12], "little") + 7) // 8 * 8)
            data[HEAD:at + sizes[1]] = data[at:at + sizes[1]] + data[HEAD:at]
        self.edit(first, swap)
        self.refused("verify", self.log, code=1, says=["00000001.seg, offset 512"])
        shutil.copy(self.sound / first.name, first)

        other = self.here / "other"
        self.append(other, 9, 400)
        shutil.copy(other / second.name, second)
        self.refused("verify", self.log, code=1, says=["00000002.seg, offset 16: expected log id"])
        self.append(self.log, 2, 0, code=2)
        second.write_bytes(b"")
        self.refused("verify", self.log, code=1, says=["00000002.seg, offset 0"])
        second.unlink()
        self.refused("spine", "stat", self.log, says=["segment 2 is missing"])
        self.append(self.log, 2, 0, code=2)

    def test_G03_a_directory_from_yesterday_is_refused_by_a_checkpoint_held_elsewhere(self):
        yesterday = self.here / "yesterday"
        shutil.copytree(self.log, yesterday)
        self.append(self.log, 3, 50)
        key, note = self.key()
        held = self.here / "held.note"
        held.write_text(note)
        self.ace("verify", self.log, "--key", key, "--checkpoint", held)
        self.refused("verify", yesterday, "--key", key, "--checkpoint", held, code=1, says=["held.note", "the end of the log"])
        self.refused("spine", "verify", yesterday, "--key", key, "--checkpoint", held, code=1, says=["rollback_detected"])

    def test_G03_a_writer_refuses_a_copy_that_is_older_than_a_checkpoint_kept_elsewhere(self):
        old = self.here / "old"
        shutil.copytree(self.log, old)
        self.append(self.log, 2, 1)
        _, note = self.key()
        (self.here / "note.txt").write_text(note)
        shutil.copy(self.log / "signing.pem", old / "signing.pem")
        self.append(self.log, 3, 1, "--checkpoint", self.here / "note.txt")
        ran = self.append(old, 3, 1, "--checkpoint", self.here / "note.txt", code=1)
        self.assertIn(b"rollback_detected", ran.stderr)
        other = self.here / "other"
        self.append(other, 9, 1)
        (self.here / "theirs.txt").write_text(self.key(other)[1])
        self.append(self.log, 4, 1, "--checkpoint", self.here / "theirs.txt", code=2)

    def test_a_directory_without_a_log_stays_as_it_is(self):
        for arguments in (("checkpoint",), ("prune", "--to", "1", "--discard")):
            empty = self.here / "empty"
            empty.mkdir(exist_ok=True)
            self.refused("spine", arguments[0], empty, *arguments[1:], says=["holds no spine"])
            self.assertEqual(list(empty.iterdir()), [])
            self.refused("spine", arguments[0], self.here / "typo", *arguments[1:], says=["typo"])
            self.assertFalse((self.here / "typo").exists())

    def test_G04_what_a_newer_version_wrote_is_not_written_to(self):
        first = self.segments()[-1]
        self.edit(first, lambda data: data.__setitem__(8, 2))
        ran = self.append(self.log, 2, 0, code=2)
        self.assertIn(b"newer than this program", ran.stderr)
        self.refused("verify", self.log, code=2, says=["offset 8: expected format 1, got 2", "newer version"])
        shutil.copy(self.sound / first.name, first)
        used = len(first.read_bytes().rstrip(b"\0"))

        def unknown_type(data):
            at = HEAD
            while True:
                length = int.from_bytes(data[at + 8:at + 12], "little")
                after = at + (40 + length + 7) // 8 * 8
                if after >= used:
                    break
                at = after
            data[at + 12] = 9
            data[at + 4:at + 8] = spine_insider.crc32c(data[at + 8:at + 40 + length]).to_bytes(4, "little")
        self.edit(first, unknown_type)
        self.append(self.log, 2, 0, code=2)
        self.refused("verify", self.log, code=2, says=["expected a record of type 1 to 4, got 9", "newer version"])

    def test_an_empty_log_is_never_made_where_another_was(self):
        (self.log / "log").unlink()
        ran = self.append(self.log, 2, 1, code=2)
        self.assertIn(b'the file "log" is missing', ran.stderr)
        self.refused("verify", self.log, code=1, says=["log, offset 0"])


class Directory(Case):
    def test_two_processes_never_own_it_and_a_killed_one_gives_it_back(self):
        with subprocess.Popen([ACE, "spine", "append", self.log, "--stdin"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as owner:
            while b"ready" not in owner.stderr.readline():
                pass
            self.refused("spine", "append", self.log, "--stdin", says=[f"locked by process {owner.pid}"])
            self.assertIn("another process owns the log", self.ace("spine", "checkpoint", self.log).stderr)
            self.ace("spine", "stat", self.log)  # to look at it is always allowed
            owner.send_signal(signal.SIGKILL)
        self.ace("spine", "checkpoint", self.log)

    def test_links_and_open_keys_are_refused_in_one_line(self):
        link = self.here / "link"
        link.symlink_to(self.log)
        self.refused("spine", "stat", link, says=["no symbolic link"])
        segment = self.segments()[0]
        shutil.move(segment, self.here / "moved")
        segment.symlink_to(self.here / "moved")
        self.refused("spine", "stat", self.log, says=["symbolic link"])
        segment.unlink()
        shutil.move(self.here / "moved", segment)
        (self.log / "signing.pem").chmod(0o644)
        self.refused("spine", "checkpoint", self.log, says=["chmod 600"])

    def test_a_file_size_limit_is_a_full_disk_and_the_log_is_sound(self):
        lines = b"".join(base64.b64encode(e) + b"\n" for e in spine_events.events(5, 3000))

        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (32 << 10, 32 << 10))
        # The segments there fit; the next one is larger than a file may be, so its place is the reserve.
        ran = subprocess.run([ACE, "spine", "append", self.log, "--stdin", "--segment-bytes", "65536"], input=lines,
                             capture_output=True, check=False, preexec_fn=limit)
        self.assertIn(ran.returncode, (2, 3), ran.stderr)
        told = [line.split() for line in ran.stdout.decode().splitlines()]
        self.ace("verify", self.log)
        self.append(self.log, 6, 10)
        there = {json.loads(line)["record"]: json.loads(line) for line in self.ace("spine", "export", self.log).stdout.splitlines()}
        for identifier, outcome, record in told:
            self.assertEqual((outcome, there[int(record)]["id"]), ("created", identifier))


class Proofs(Case):
    def test_a_record_is_proven_without_the_log(self):
        key, note = self.key()
        listed = [json.loads(line) for line in self.ace("spine", "export", self.log).stdout.splitlines()]
        event = listed[123]
        proof = self.here / "event.tlog-proof"
        self.ace("spine", "prove", self.log, event["id"], "--out", proof)
        self.assertTrue(proof.read_text().startswith("c2sp.org/tlog-proof@v1\nextra "))
        self.assertTrue(proof.read_text().endswith(note))
        shutil.rmtree(self.log)
        ran = self.ace("verify", "--proof", proof, "--key", key)
        self.assertIn(f"proven: record {event['record']} of ace/spine is {event['kind']} {event['id']}", ran.stdout)
        answer = json.loads(self.ace("verify", "--proof", proof, "--key", key, "--json").stdout)
        self.assertEqual((answer["verified"], answer["record"], answer["event_base64"]), (True, event["record"], event["event_base64"]))

        text = proof.read_text()
        for before, after in ((f"index {event['record']}", f"index {event['record'] - 1}"), ("extra Q", "extra R")):
            proof.write_text(text.replace(before, after))
            self.assertIn("offset 23", self.refused("verify", "--proof", proof, "--key", key, code=1).stderr)
            self.assertFalse(json.loads(self.ace("verify", "--proof", proof, "--key", key, "--json", code=1).stdout)["verified"])
        proof.write_text(text)
        self.refused("verify", "--proof", proof, "--key", key[::-1], code=1, says=["signed by the given key"])
        self.refused("verify", "--proof", proof, says=["--key"])

    def test_a_log_is_proven_to_continue_an_older_checkpoint(self):
        key, note = self.key()
        older = self.here / "older.note"
        older.write_text(note)
        self.append(self.log, 3, 50)
        proof = self.here / "proof"
        self.ace("spine", "prove", self.log, "--from", older, "--out", proof)
        ran = self.ace("verify", "--proof", proof, "--key", key, "--checkpoint", older)
        self.assertRegex(ran.stdout, r"proven: ace/spine of \d+ records begins with the \d+ records of .*older.note")
        self.refused("verify", "--proof", proof, "--key", key, says=["--checkpoint"])
        # A log that is another one since then cannot make such a proof.
        other = self.here / "other"
        self.append(other, 1, 500)
        self.refused("spine", "prove", other, "--from", older, code=1, says=["its root differs"])

    def test_what_cannot_be_proven_is_said_and_how_to_mend_it(self):
        self.key()
        self.append(self.log, 3, 5)
        newest = json.loads(self.ace("spine", "tail", self.log, "-n", "2", "--json").stdout.splitlines()[0])
        self.ace("spine", "prove", self.log, newest["record"])  # closing the log signed it
        self.refused("spine", "prove", self.log, 10**9, says=["holds no record 1000000000"])
        self.refused("spine", "prove", self.log, "01abc", says=["26 base32 characters"])
        self.refused("spine", "prove", self.log, says=["prove what?"])


class Keys(Case):
    def keys_of(self, ran):
        return re.findall(r"[0-9a-f]{64}", ran.stderr)

    def test_a_key_is_replaced_by_one_that_it_introduced_and_by_no_other(self):
        first, = self.keys_of(self.ace("spine", "checkpoint", self.log))
        turned = self.ace("spine", "rotate-key", self.log)
        self.assertEqual(self.keys_of(turned)[0], first)
        second = self.keys_of(turned)[1]
        self.assertNotEqual(first, second)
        self.assertIn("\nsuccessor ", turned.stdout)
        held = self.here / "held"
        held.write_text(turned.stdout)
        self.append(self.log, 2, 50, "--checkpoint", str(held))
        third = self.keys_of(self.ace("spine", "rotate-key", self.log))[1]
        self.append(self.log, 3, 50)
        for key in (first, second, third):
            self.ace("verify", self.log, "--key", key)
            self.ace("verify", self.log, "--key", key, "--checkpoint", held, code=1 if key == third else 0)
        self.refused("verify", self.log, "--key", second[::-1], code=1, says=["signed by the given key"])
        # A key of its own, which nobody introduced.
        (self.log / "signing.pem").unlink()
        self.append(self.log, 4, 50)
        other, = self.keys_of(self.ace("spine", "checkpoint", self.log))
        for key in (first, second, third, other):
            self.refused("verify", self.log, "--key", key, code=1, says=["expected a checkpoint signed by"])

    def test_a_hand_over_that_was_cut_off_is_ended(self):
        before = (self.log / "signing.pem").read_bytes()
        first, second = self.keys_of(self.ace("spine", "rotate-key", self.log))
        # As if the machine had stopped when the log named the next key, and not yet put it in its place.
        (self.log / "signing.pem").rename(self.log / "signing.next.pem")
        (self.log / "signing.pem").write_bytes(before)
        (self.log / "signing.pem").chmod(0o600)
        self.append(self.log, 2, 50)
        self.assertEqual(self.keys_of(self.ace("spine", "checkpoint", self.log)), [second])
        self.assertFalse((self.log / "signing.next.pem").exists())
        self.ace("verify", self.log, "--key", first)
        # And before the log named it: the old one still signs, and the one that waits is handed over to next time.
        self.ace("spine", "stat", self.log)
        (self.log / "signing.next.pem").write_bytes(before)
        (self.log / "signing.next.pem").chmod(0o600)
        self.append(self.log, 3, 50)
        self.assertEqual(self.keys_of(self.ace("spine", "checkpoint", self.log)), [second])
        self.assertEqual(self.keys_of(self.ace("spine", "rotate-key", self.log)), [second, first])
        for key in (first, second):
            self.ace("verify", self.log, "--key", key)

    def test_where_there_is_no_log_no_key_is_made(self):
        (self.here / "nothing").mkdir()
        self.refused("spine", "rotate-key", self.here / "nothing", says=["holds no spine"])
        self.assertEqual(list((self.here / "nothing").iterdir()), [])


class Archives(Case):
    def test_segments_are_removed_once_an_archive_holds_them_and_read_together_again(self):
        whole = json.loads(self.ace("verify", self.log, "--json").stdout)
        kept = self.here / "kept"
        self.refused("spine", "prune", self.log, "--to", 2, says=["--archive", "--discard"])
        self.refused("spine", "prune", self.log, "--to", 2, "--archive", self.log, code=1, says=["does not hold segment 1"])
        self.assertRegex(self.ace("spine", "archive", self.log, kept).stdout, r"holds segments 1 to \d+; \d+ added, .* equal")
        self.ace("verify", kept)  # it is a log by itself
        packed = kept / "00000002.seg.zst"
        good = packed.read_bytes()
        packed.write_bytes(good[:-20] + bytes([good[-20] ^ 1]) + good[-19:])
        self.refused("spine", "prune", self.log, "--to", 2, "--archive", kept, code=1, says=["does not hold segment 2"])
        self.assertEqual(len(self.segments()), len(list(self.sound.glob("*.seg"))), "nothing is gone")
        packed.write_bytes(good)
        self.ace("spine", "prune", self.log, "--to", 2, "--archive", kept)
        self.assertFalse((self.log / "00000002.seg").exists())

        alone = json.loads(self.ace("verify", self.log, "--json").stdout)
        together = json.loads(self.ace("verify", self.log, "--archive", kept, "--json").stdout)
        self.assertEqual((alone["root"], together["root"]), (whole["root"], whole["root"]))
        self.assertEqual((alone["segments_pruned"], together["records_first"]), (2, 0))
        self.assertEqual(together["events"], whole["events"])
        key, _ = self.key()
        self.refused("spine", "prove", self.log, 3, says=["holds no record 3"])
        proof = self.here / "proof"
        self.ace("spine", "prove", self.log, 3, "--archive", kept, "--out", proof)
        self.ace("verify", "--proof", proof, "--key", key)
        self.assertEqual(len(self.ace("spine", "export", self.log, "--archive", kept).stdout.splitlines()),
                         len(self.ace("spine", "export", self.sound).stdout.splitlines()))

        ran = self.append(self.log, 4, 300, code=1)
        self.assertIn(b"300 events are older than what was pruned", ran.stderr)
        self.append(self.log, 4, 300, now_ms=int(time.time() * 1000))
        self.ace("spine", "archive", self.log, kept)
        self.ace("spine", "prune", self.log, "--older-than", 0, "--archive", kept)
        self.ace("verify", self.log, "--archive", kept)
        # What the log says of the segments that are gone must be what the archive holds.
        other = self.here / "other"
        self.append(other, 1, 700)
        self.ace("spine", "prune", other, "--to", 2, "--discard")
        shutil.copy(other / "pruned", self.log / "pruned")
        self.refused("verify", self.log, "--archive", kept, code=1, says=["pruned, offset 0"])

    def test_segments_are_removed_beside_a_running_writer(self):
        kept = self.here / "kept"
        with subprocess.Popen([ACE, "spine", "append", self.log, "--stdin", "--segment-bytes", "17408"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as owner:
            while b"ready" not in owner.stderr.readline():
                pass
            self.ace("spine", "archive", self.log, kept)
            self.refused("spine", "prune", self.log, "--to", 99, "--discard", says=["is not sealed"])
            self.assertIn("segments 1 to 2 are removed", self.ace("spine", "prune", self.log, "--to", 2, "--archive", kept).stdout)
            self.assertFalse((self.log / "00000002.seg").exists())
            owner.stdin.write(base64.b64encode(spine_events.events(8, 1, now_ms=int(time.time() * 1000))[0]) + b"\n")  # it goes on
            owner.stdin.flush()
            self.assertIn(b" created ", owner.stdout.readline())
            owner.stdin.close()
            self.assertEqual(owner.wait(), 0, owner.stderr.read())
        self.ace("verify", self.log, "--archive", kept)
        self.assertTrue((self.log / "ledger.view").exists(), "what the ledger was folded to does not go with the records")
        self.ace("ledger", "report", self.log)

    def test_an_archive_of_another_log_is_refused(self):
        kept, other = self.here / "kept", self.here / "other"
        self.ace("spine", "archive", self.log, kept)
        self.append(other, 1, 400)
        self.refused("spine", "archive", other, kept, says=["of another log"])


class Decisions(unittest.TestCase):
    """On a recorded run."""

    @classmethod
    def setUpClass(cls):
        cls.world = world.World(ACE)
        cls.world.generate()
        rows = cls.world.read("trace.csv").splitlines(keepends=True)
        cls.world.write("trace.csv", b"".join(rows[:400]))
        ran = cls.world.run("analyze", "trace.csv", "--fleet", "fleet.yaml", "--sensitivity", "off", "--salt-file", "salt", "--json",
                            "--requests", "rows.csv", "--record", "spine")
        assert ran.code == 0, ran.err

    @classmethod
    def tearDownClass(cls):
        cls.world.close()

    def ace(self, *arguments, code=0):
        ran = self.world.run(*arguments)
        self.assertEqual(ran.code, code, f"ace {arguments}\n{ran.text}{ran.err}")
        return ran

    def forged(self, sign):
        spine = self.world.folder / "spine"
        forged = self.world.folder / ("signed" if sign else "unsigned")
        shutil.copytree(spine, forged)
        for offset, kind, payload in spine_insider.records((spine / "00000001.seg").read_bytes()):
            other = spine_insider.another_choice(payload) if kind == 1 else None
            if other:
                break
        spine_insider.rewrite(forged, offset, other, spine / "signing.pem" if sign else None)
        return forged.name, offset

    def test_every_decision_is_made_again(self):
        answer = json.loads(self.ace("verify", "spine", "--json").text)
        self.assertTrue(answer["verified"])
        self.assertEqual(answer["decisions"]["requests"], 399)
        self.assertGreaterEqual(answer["decisions"]["derived"], 399)
        self.assertIn("decisions    ", self.ace("verify", "spine").text)
        # And every dollar: what the rows of the same run say, added up by hand.
        rows = list(csv.DictReader(io.StringIO(self.world.read("rows.csv").decode())))
        for column, figure in (("c0_usd", "baseline_usd"), ("c4_usd", "actual_marginal_usd")):
            self.assertEqual(decimal.Decimal(answer["decisions"][figure]), sum(decimal.Decimal(row[column]) for row in rows))

    def test_a_decision_that_an_insider_rewrote_is_found_at_its_record(self):
        key = re.search(r"[0-9a-f]{64}", self.ace("spine", "checkpoint", "spine").err).group()
        for sign in (False, True):
            name, offset = self.forged(sign)
            # To the chain it is a sound log, and with the key to its signatures too.
            self.ace("spine", "verify", name)
            self.ace("spine", "verify", name, "--key", key, code=0 if sign else 1)
            ran = self.ace("verify", name, "--key", key, code=1)
            self.assertIn(f"00000001.seg, offset {offset}: expected ", ran.err)
            self.assertIn("decided again from its evidence", ran.err)
            found = json.loads(self.ace("verify", name, "--json", code=1).text)
            self.assertEqual((found["verified"], found["file"], found["offset_bytes"]), (False, "00000001.seg", offset))

    def test_fixed_cost_that_an_insider_rewrote_is_found_at_its_record(self):
        spine = self.world.folder / "spine"
        for offset, kind, payload in spine_insider.records((spine / "00000001.seg").read_bytes()):
            other = spine_insider.another_amount(payload) if kind == 1 else None
            if not other:
                continue
            name = self.world.folder / f"cheaper{offset}"
            shutil.copytree(spine, name)
            spine_insider.rewrite(name, offset, other, spine / "signing.pem")
            ran = self.ace("verify", name.name, code=1)
            self.assertIn(f"00000001.seg, offset {offset}: expected ", ran.err)
            self.assertIn("by fleet file and bookings", ran.err)
        self.assertTrue(list(self.world.folder.glob("cheaper*")))

    def test_books_beside_the_log_are_held_against_it(self):
        copy = self.world.folder / "booked"
        shutil.copytree(self.world.folder / "spine", copy)
        self.ace("ledger", "report", "booked")
        self.assertIn("ledger.view is what the first", self.ace("verify", "booked").text)
        view = bytearray((copy / "ledger.view").read_bytes())
        head = 64
        view[len(view) // 2] ^= 1
        view[head:head + 32] = hashlib.sha256(view[:head] + view[head + 32:]).digest()
        (copy / "ledger.view").write_bytes(view)
        self.assertIn("ledger.view, offset 0: expected what the first", self.ace("verify", "booked", code=1).err)

    def record(self, trace, name, fleet="fleet.yaml"):
        return self.ace("analyze", trace, "--fleet", fleet, "--sensitivity", "off", "--salt-file", "salt", "--record", name)

    def report(self, name, *more, without="log"):
        whole = json.loads(self.ace("ledger", "report", name, "--json", *more).text)
        for of_the_log in {"log", "records", "snapshot", "balances", without}:
            del whole["ledger"][of_the_log]
        del whole["source"]
        return whole

    def test_a_longer_trace_recorded_again_books_no_time_twice(self):
        rows = self.world.read("trace.csv").splitlines(keepends=True)
        # One a minute, so that nothing is under way where the shorter one ends.
        spaced = [rows[0]] + [f"2026-01-05T{i // 60:02}:{i % 60:02}:00Z".encode() + row[row.index(b","):]
                              for i, row in enumerate(rows[1:90])]
        self.world.write("long.csv", b"".join(spaced))
        self.world.write("short.csv", b"".join(spaced[:50]))
        self.record("long.csv", "at_once")
        self.record("short.csv", "grown")
        self.record("long.csv", "grown")
        self.ace("verify", "grown")
        self.assertEqual(self.report("grown"), self.report("at_once"))

    def test_what_ifs_of_one_time_are_never_added_up(self):
        self.world.write("dearer.yaml", self.world.read("fleet.yaml").replace(b"0.40 USD", b"0.41 USD"))
        shutil.copytree(self.world.folder / "spine", self.world.folder / "two")
        self.record("trace.csv", "two", "dearer.yaml")
        ran = self.ace("ledger", "report", "two", code=2)
        self.assertIn("--snapshot 1 or --snapshot 2", ran.err)
        self.assertEqual(self.report("two", "--snapshot", "1"), self.report("spine"))
        self.assertNotEqual(self.report("two", "--snapshot", "2"), self.report("spine"))
        self.ace("verify", "two")
        self.assertIn("there is 1, 2", self.ace("ledger", "report", "two", "--snapshot", "3", code=2).err)

    def test_a_recording_that_was_cut_off_goes_on_and_verifies(self):
        events = [payload for _, kind, payload in spine_insider.records((self.world.folder / "spine" / "00000001.seg").read_bytes())
                  if kind == 1]
        for k, count in enumerate((len(events) // 5, len(events) // 2, len(events) - 30)):
            name = self.world.folder / f"cut{k}"
            shutil.copytree(self.world.folder / "spine" / "files", name / "files")
            lines = b"".join(base64.b64encode(event) + b"\n" for event in events[:count])
            subprocess.run([ACE, "spine", "append", name, "--stdin"], input=lines, check=True, capture_output=True)
            self.record("trace.csv", name.name)
            self.ace("verify", name.name)
            # What was under way when the first writer stopped was estimated, and corrected when its end came.
            self.assertEqual(self.report(name.name, without="corrections"), self.report("spine", without="corrections"))

    def charged(self, *arguments):
        rows = list(csv.DictReader(io.StringIO(self.ace("ledger", "chargeback", "--spine", *arguments, "--by", "hour,tenant").text)))
        return rows, sum(decimal.Decimal(row["total_usd"]) for row in rows)

    def test_books_of_a_period_are_what_falls_into_it(self):
        rows = self.world.read("trace.csv").splitlines(keepends=True)
        # One every quarter of an hour: 2026-01-30 to 2026-02-02.
        at = lambda i: f"2026-{1 + (i >= 192):02}-{30 + i // 96 if i < 192 else i // 96 - 1:02}T{i % 96 // 4:02}:{i % 4 * 15:02}:00Z"
        self.world.write("days.csv", b"".join(rows[:1] + [at(i).encode() + row[row.index(b","):] for i, row in enumerate(rows[1:340])]))
        self.record("days.csv", "days")
        whole, total = self.charged("days")
        parts = [self.charged("days", *period) for period in (
            ("--to", "2026-01-31"), ("--from", "2026-01-31", "--to", "2026-02-01"), ("--month", "2026-02"))]
        self.assertEqual(sum(part[1] for part in parts), total)
        hours = lambda rows: sorted({row["hour"] for row in rows if row["kind"] == "usage"})
        self.assertEqual([hours(part[0])[0][:10] for part in parts], ["2026-01-30", "2026-01-31", "2026-02-01"])
        self.assertEqual(sum((hours(part[0]) for part in parts), []), hours(whole))
        # FOCUS: the rows of a month lie in it, and all of them together are the whole.
        def focus(*period):
            return list(csv.DictReader(io.StringIO(self.ace("ledger", "focus", "--spine", "days", *period).text)))
        january, february = focus("--month", "2026-01"), focus("--month", "2026-02")
        self.assertEqual(january + february, focus())
        for month, begin, end in ((january, "2026-01-01", "2026-02-01"), (february, "2026-02-01", "2026-03-01")):
            for row in month:
                self.assertEqual((row["BillingPeriodStart"][:10], row["BillingPeriodEnd"][:10]), (begin, end))
                self.assertTrue(begin <= row["ChargePeriodStart"][:10] < row["ChargePeriodEnd"] <= end + "T00:00:00Z", row)
        self.assertEqual(sum(decimal.Decimal(row["BilledCost"]) for row in january + february), total)
        # A month that is not over says so.
        self.assertIn("is not over", self.ace("ledger", "chargeback", "--spine", "days", "--month", "2026-02").err)
        self.assertNotIn("is not over", self.ace("ledger", "chargeback", "--spine", "days", "--month", "2026-01").err)
        # A report of a period is made again as well.
        self.world.write("period.json", self.ace("ledger", "report", "days", "--from", "2026-01-31", "--to", "2026-02-01", "--json").out)
        self.assertEqual(json.loads(self.world.read("period.json"))["ledger"]["period"], {"from": "2026-01-31", "to": "2026-02-01"})
        self.ace("verify", "days", "--report", "period.json")
        # A bill is compared with the days of the period alone.
        self.world.write("bill.csv", b"day,model,provider,requests\n2026-01-30,large,alpha,1\n2026-01-31,large,alpha,1\n")
        ran = self.ace("ledger", "reconcile", "--spine", "days", "--bill", "bill.csv", "--from", "2026-01-31", "--to", "2026-02-01", code=1)
        self.assertIn("1 lines of the bill are of days outside", ran.err)
        self.assertNotIn("2026-01-30", ran.text)
        for wrong, said in ((("--from", "2026-1-1"), "--from: expected a UTC day"), (("--month", "2026-01-01"), "--month: expected a month"),
                            (("--month", "2026-01", "--to", "2026-02-01"), "excludes")):
            self.assertIn(said, self.ace("ledger", "chargeback", "--spine", "days", *wrong, code=2).err)

    def test_what_tenants_reserve_is_theirs_and_each_idle_policy_is_another(self):
        self.world.write("reserved.yaml", self.world.read("fleet.yaml").replace(b"labs: {slo: agent}", b"labs: {slo: agent, reserved: {h100: 30%}}\n"
                                                                                b"  never: {reserved: {h100: 20%}}"))
        self.record("trace.csv", "reserved", "reserved.yaml")
        bills = {}
        for policy in ("by-usage", "by-reservation", "even", "keep-idle"):
            replayed, recorded = (self.ace("ledger", "chargeback", *source, "--by", "tenant", "--idle", policy).text for source in
                                  (("trace.csv", "--fleet", "reserved.yaml", "--salt-file", "salt"), ("--spine", "reserved")))
            bills[policy] = list(csv.DictReader(io.StringIO(recorded)))
            self.assertEqual({(row["kind"], row["tenant"]) for row in csv.DictReader(io.StringIO(replayed))},
                             {(row["kind"], row["tenant"]) for row in bills[policy]})
            self.assertIn(("reserved_idle", "never"), {(row["kind"], row["tenant"]) for row in bills[policy]})
        self.assertEqual(len({str(bill) for bill in bills.values()}), 4)
        self.assertEqual(len({sum(decimal.Decimal(row["total_usd"]) for row in bill) for bill in bills.values()}), 1)
        self.ace("verify", "reserved")

    def test_options_of_a_replay_are_refused_where_nothing_is_replayed(self):
        for option in (("--window", "2026-01-05T00:00:00Z,2026-01-05T03:00:00Z"), ("--seed", "9"), ("--gaps", "nofile"),
                       ("--model", "nomodel"), ("--prices", "nofile"), ("--fleet", "fleet.yaml")):
            self.assertIn("excludes", self.ace("ledger", "chargeback", "--spine", "spine", *option, code=2).err)
        self.assertIn("requires", self.ace("ledger", "chargeback", "trace.csv", "--fleet", "fleet.yaml", "--snapshot", "1", code=2).err)

    def test_a_fleet_that_is_not_the_one_it_was_decided_on_is_said(self):
        copy = self.world.folder / "fleetless"
        shutil.copytree(self.world.folder / "spine", copy)
        kept = next((copy / "files").iterdir())
        text = kept.read_bytes()
        kept.write_bytes(text.replace(b"0.40 USD", b"0.41 USD"))
        self.assertIn("no longer what was recorded", self.ace("verify", "fleetless", code=1).err)
        kept.unlink()
        self.assertIn("is missing", self.ace("verify", "fleetless", code=2).err)

    def test_a_request_is_explained_from_its_records_as_it_is_from_the_trace(self):
        rows = list(csv.DictReader(io.StringIO(self.world.read("rows.csv").decode())))
        looked = 0
        for row in rows[::40]:
            recorded = self.ace("explain", row["id"], "--spine", "spine").text
            replayed = self.ace("explain", "trace.csv", "--fleet", "fleet.yaml", "--sensitivity", "off", "--salt-file", "salt",
                                "--row", row["row"]).text
            # Decided on what a record can hold, so figures may differ in what was rounded.
            pattern = r"-?\d+\.\d+"
            self.assertEqual(re.sub(pattern, "#", recorded).split("  cell")[0].split(), re.sub(pattern, "#", replayed).split("  cell")[0].split())
            for ours, theirs in zip(re.findall(pattern, recorded), re.findall(pattern, replayed)):
                self.assertAlmostEqual(float(ours), float(theirs), delta=1e-3 * max(1, abs(float(theirs))))
            looked += 1
        self.assertGreaterEqual(looked, 9)
        self.assertIn("is no request of this spine", self.ace("explain", "req_" + "0" * 26, "--spine", "spine", code=2).err)
        self.assertIn("26 base32", self.ace("explain", "req_1", "--spine", "spine", code=2).err)
        self.assertIn("no action or plan", self.ace("explain", "act_" + "0" * 26, "--spine", "spine", code=2).err)


if __name__ == "__main__":
    ACE = sys.argv.pop(1)
    unittest.main()
