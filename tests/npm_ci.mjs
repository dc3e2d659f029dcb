// Puts a copy of a folder with a package-lock.json, and the packages that it names, somewhere else:
//   node npm_ci.mjs FOLDER WORK
// Writes nothing into FOLDER; its node_modules and dist are not copied. Runs `npm ci` only if the lock file is another than last time.
// Exit codes: 0 fine, 2 usage, 3 npm failed.
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";

const [folder, work] = process.argv.slice(2);
if (!work) {
  console.error("usage: npm_ci.mjs FOLDER WORK");
  process.exit(2);
}
const lock = fs.readFileSync(path.join(folder, "package-lock.json"), "utf8");
const stamp = path.join(work, "node_modules/.installed-lock.json");
const fresh = fs.existsSync(stamp) && fs.readFileSync(stamp, "utf8") === lock;
fs.mkdirSync(work, { recursive: true });
for (const old of fs.readdirSync(work)) if (old !== "node_modules") fs.rmSync(path.join(work, old), { recursive: true });
for (const name of fs.readdirSync(folder))
  if (!["node_modules", "dist"].includes(name)) fs.cpSync(path.join(folder, name), path.join(work, name), { recursive: true });
if (!fresh) {
  const words = ["ci", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund"];
  const done = spawnSync("npm", words, { cwd: work, stdio: ["ignore", "inherit", "inherit"], timeout: 280_000 });
  if (done.status !== 0) {
    console.log(`FAIL npm ci in ${work}: ${done.error?.message ?? `exit code ${done.status}`}`);
    process.exit(3);
  }
  fs.writeFileSync(stamp, lock);
}
console.log(fresh ? "PASS packages are as the lock file says" : "PASS npm ci installed what the lock file says");
