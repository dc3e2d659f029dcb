// The committed page is what its source builds, byte for byte; and the packages the browser test needs are at hand.
//   node report_page_rebuild.mjs install UI WORK   copies UI to WORK (not its packages, not its page) and runs npm ci there
//   node report_page_rebuild.mjs compare UI WORK   builds in WORK and compares with UI/dist/report.html
// Writes nothing into UI. Exit codes: 0 fine, 1 the page differs or is too large, 2 usage, 3 npm failed.
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";

const [what, ui, work] = process.argv.slice(2);
if (!["install", "compare"].includes(what) || !work) {
  console.error("usage: report_page_rebuild.mjs install|compare UI WORK");
  process.exit(2);
}
const BYTES_MAX = 300 * 1024;
const page = (folder) => path.join(folder, "dist/report.html");

function npm(...words) {
  const done = spawnSync("npm", words, { cwd: work, stdio: ["ignore", "inherit", "inherit"], timeout: 280_000 });
  if (done.status !== 0) {
    console.log(`FAIL npm ${words[0]} in ${work}: ${done.error?.message ?? `exit code ${done.status}`}`);
    process.exit(3);
  }
}

if (what === "install") {
  const lock = fs.readFileSync(path.join(ui, "package-lock.json"), "utf8");
  const stamp = path.join(work, "node_modules/.installed-lock.json");
  const fresh = fs.existsSync(stamp) && fs.readFileSync(stamp, "utf8") === lock;
  fs.mkdirSync(work, { recursive: true });
  for (const old of fs.readdirSync(work)) if (old !== "node_modules") fs.rmSync(path.join(work, old), { recursive: true });
  for (const name of fs.readdirSync(ui))
    if (!["node_modules", "dist"].includes(name)) fs.cpSync(path.join(ui, name), path.join(work, name), { recursive: true });
  if (!fresh) {
    npm("ci", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund");
    fs.writeFileSync(stamp, lock);
  }
  console.log(fresh ? "PASS packages are as the lock file says" : "PASS npm ci installed what the lock file says");
} else {
  npm("run", "build");
  const built = fs.readFileSync(page(work)), committed = fs.readFileSync(page(ui));
  const first = built.findIndex((byte, i) => byte !== committed[i]);
  const same = built.equals(committed);
  console.log(
    same
      ? `PASS ui/dist/report.html is what its source builds: ${built.length} bytes`
      : `FAIL ui/dist/report.html (${committed.length} bytes) is not what its source builds (${built.length} bytes): they part at byte ${first < 0 ? built.length : first}. Run: cd ui && npm ci && npm run build`,
  );
  const small = built.length <= BYTES_MAX;
  console.log(`${small ? "PASS" : "FAIL"} the page has ${built.length} bytes of at most ${BYTES_MAX}`);
  process.exit(same && small ? 0 : 1);
}
