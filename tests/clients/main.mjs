// Runs the scenarios of one client library:
//   node main.mjs openai|anthropic|vercel_ai PROVIDER_URL [ACE_URL ACE_KEY]
// Exit codes: 0 all passed, 1 some failed, 2 usage.
import { Provider, run_all } from "./scenario.mjs";

globalThis.AI_SDK_LOG_WARNINGS = false;
const [suite, provider_url, ace_url, ace_key] = process.argv.slice(2);
if (!["openai", "anthropic", "vercel_ai"].includes(suite) || !provider_url) {
  console.error("usage: main.mjs openai|anthropic|vercel_ai PROVIDER_URL [ACE_URL ACE_KEY]");
  process.exit(2);
}
const { default: scenarios } = await import(`./${suite}.mjs`);
const sides = { direct: { url: provider_url, key: "sk-direct" } };
if (ace_url) sides.ace = { url: ace_url, key: ace_key };
const failed = await run_all(suite, scenarios, new Provider(provider_url), sides);
console.log(`${suite}: ${scenarios.length - failed} of ${scenarios.length} scenarios passed ${Object.keys(sides).join(" and ")}`);
process.exit(failed ? 1 : 0);
