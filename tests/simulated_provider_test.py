"""`ace simulate-provider` as other programs start it: a URL on its first line, answers at that URL, an end on SIGTERM."""
import json
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest
import urllib.request

ACE = sys.argv.pop(1)


class SimulatedProvider(unittest.TestCase):
    def start(self, script):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = pathlib.Path(folder.name) / "script.yaml"
        path.write_text(script)
        provider = subprocess.Popen([ACE, "simulate-provider", "--script", path], stdout=subprocess.PIPE, text=True)
        self.addCleanup(provider.stdout.close)
        self.addCleanup(provider.wait)
        self.addCleanup(provider.kill)
        return provider, provider.stdout.readline().strip()

    def ask(self, url, body):
        request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.read().decode()

    def test_serves_at_the_url_it_prints_until_it_is_told_to_end(self):
        provider, url = self.start("tokens: 3\nmodels: [m]\n")
        body = {"model": "m", "messages": [{"role": "user", "content": "hello"}]}
        self.assertEqual(json.loads(self.ask(url + "/v1/chat/completions", body))["usage"]["completion_tokens"], 3)
        self.assertTrue(self.ask(url + "/v1/chat/completions", body | {"stream": True}).endswith("data: [DONE]\n\n"))
        provider.send_signal(signal.SIGTERM)
        self.assertEqual(provider.wait(10), 0)

    def test_says_what_is_wrong_with_a_script(self):
        ran = subprocess.run([ACE, "simulate-provider", "--script", "/dev/stdin"], input="tokens: none\n", text=True,
                             capture_output=True, check=False)
        self.assertEqual(ran.returncode, 2)
        self.assertIn("/dev/stdin:1:9: tokens: ", ran.stderr)


if __name__ == "__main__":
    unittest.main()
