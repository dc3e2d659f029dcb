/** The page: one report, top to bottom. */
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Service } from "./attainment";
import { Chargeback } from "./chargeback";
import { moment } from "./format";
import { Gates } from "./gates";
import { Coverage, Headline } from "./headline";
import { Levers } from "./levers";
import { Assumptions, Bounds, Sensitivity } from "./limits";
import { Load } from "./load";
import { Destinations, Knees } from "./places";
import { Realised } from "./realised";
import { read, type Report } from "./report";
import "./style.css";
import { MeritOrder } from "./supply";
import { Waterfall } from "./waterfall";

type Theme = "light" | "dark";
const dark = matchMedia("(prefers-color-scheme: dark)");
const preferred = (): Theme => (dark.matches ? "dark" : "light");

/** The reader's system decides until the button is pressed. */
function useTheme(): [Theme, () => void] {
  const [chosen, setChosen] = useState<Theme | null>(null);
  const [system, setSystem] = useState(preferred());
  useEffect(() => {
    const follow = () => setSystem(preferred());
    dark.addEventListener("change", follow);
    return () => dark.removeEventListener("change", follow);
  }, []);
  const theme = chosen ?? system;
  useEffect(() => {
    document.documentElement.dataset.theme = theme;
  }, [theme]);
  return [theme, () => setChosen(theme === "dark" ? "light" : "dark")];
}

const LINKS: [string, string, (report: Report) => boolean][] = [
  ["saving", "Saving", () => true],
  ["waterfall", "Waterfall", () => true],
  ["levers", "Levers", () => true],
  ["merit", "Merit order", (r) => (r.supply_curves?.length ?? 0) > 0],
  ["load", "Load", (r) => r.series.arrived.length > 0],
  ["service", "Service", () => true],
  ["realised", "Realised", (r) => r.realised != null],
  ["destinations", "Destinations", () => true],
  ["gates", "Gates", () => true],
  ["chargeback", "Chargeback", () => true],
  ["sensitivity", "Sensitivity", (r) => r.sensitivity.rows.length > 0],
  ["assumptions", "Assumptions", () => true],
];

function Page({ report }: { report: Report }) {
  const [theme, toggle] = useTheme();
  const { source, window: span } = report;
  return (
    <>
      <a class="skip" href="#coverage">
        Skip to the report
      </a>
      <header>
        <div class="masthead">
          <div>
            <p class="product">ACE</p>
            <h1>Savings report</h1>
            <p class="source">
              <b>{source.trace}</b> on <b>{source.fleet}</b>
              <br />
              {moment(span.from)} to {moment(span.to)}
            </p>
          </div>
          <div class="tools">
            <button type="button" onClick={toggle} aria-label={`Switch to the ${theme === "dark" ? "light" : "dark"} theme`}>
              {theme === "dark" ? "Light" : "Dark"}
            </button>
            <button type="button" onClick={() => print()}>
              Print
            </button>
          </div>
        </div>
        <nav aria-label="Sections">
          {LINKS.filter(([, , there]) => there(report)).map(([id, name]) => (
            <a key={id} href={`#${id}`}>
              {name}
            </a>
          ))}
        </nav>
      </header>
      <main>
        <Coverage report={report} />
        <Headline report={report} />
        <Waterfall report={report} />
        <Levers report={report} />
        <MeritOrder report={report} />
        <Load report={report} />
        <Service report={report} />
        <Realised report={report} />
        <Destinations report={report} />
        <Gates report={report} />
        <Chargeback report={report} />
        <Sensitivity report={report} />
        <Bounds report={report} />
        <Knees report={report} />
        <Assumptions report={report} />
      </main>
    </>
  );
}

const root = document.getElementById("page")!;
document.documentElement.dataset.theme = preferred();
const report = read(document);
if (typeof report === "string") {
  render(<main><h1>ACE savings report</h1><p class="caution">{report}</p></main>, root);
} else {
  document.title = `Savings of ${report.source.trace} on ${report.source.fleet} \u2013 ACE`;
  render(<Page report={report} />, root);
}
