// The committed page is what its source builds, byte for byte.
//   node report_page_rebuild.mjs UI WORK   builds in WORK, which npm_ci.mjs made of UI, and compares with UI/dist/report.html
// Writes nothing into UI. Exit codes: 0 fine, 1 the page differs or is too large, 2 usage, 3 npm failed.
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";

const [ui, work] = process.argv.slice(2);
if (!work) {
  console.error("usage: report_page_rebuild.mjs UI WORK");
  process.exit(2);
}
const BYTES_MAX = 300 * 1024;
const page = (folder) => path.join(folder, "dist/report.html");

const done = spawnSync("npm", ["run", "build"], { cwd: work, stdio: ["ignore", "inherit", "inherit"], timeout: 280_000 });
if (done.status !== 0) {
  console.log(`FAIL npm run build in ${work}: ${done.error?.message ?? `exit code ${done.status}`}`);
  process.exit(3);
}
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
