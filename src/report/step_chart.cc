#include "report/step_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace ace {
namespace {

constexpr double kWidth = 960, kHeight = 520, kLeft = 84, kRight = 28, kTop = 84, kBottom = 64;

/// 1, 2 or 5 times a power of ten, so that about `wanted` ticks cover the range.
double tick_of(double range, int wanted) {
  double tick = 1e-9;
  constexpr std::array<double, 3> factors = {2.0, 2.5, 2.0};
  for (std::size_t i = 0; tick * wanted < range && tick < 1e15; ++i) tick *= factors[i % 3];
  return tick;
}

std::string escape(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

std::string rate_text(double tokens_per_s) {
  if (!std::isfinite(tokens_per_s)) return "no quota";
  if (tokens_per_s >= 1e6) return fmt::format("{:.3g}M tokens/s", tokens_per_s / 1e6);
  if (tokens_per_s >= 1e4) return fmt::format("{:.4g}k tokens/s", tokens_per_s / 1e3);
  return fmt::format("{:.4g} tokens/s", tokens_per_s);
}
std::string axis_text(double v) {
  if (v >= 1e6) return fmt::format("{:g}M", v / 1e6);
  return v >= 1e3 ? fmt::format("{:g}k", v / 1e3) : fmt::format("{:g}", v);
}

/// Data ranges and where they fall on the page. A step without a quota ends at the right edge.
struct Frame {
  double x_max = 1.0, y_min = 0.0, y_max = 1.0;
  [[nodiscard]] double x(double v) const { return kLeft + std::clamp(v / x_max, 0.0, 1.0) * (kWidth - kLeft - kRight); }
  [[nodiscard]] double y(double v) const {
    return kHeight - kBottom - (v - y_min) / (y_max - y_min) * (kHeight - kTop - kBottom);
  }
};

Frame frame_of(const SupplyCurve& curve, std::optional<double> load) {
  double finite = 0.0, low = 0.0, high = 0.0;
  bool endless = false;
  for (const SupplyStep& step : curve.steps) {
    if (std::isfinite(step.tokens_per_s) && !endless)
      finite += step.tokens_per_s;
    else
      endless = true;
    low = std::min(low, step.usd_per_mtok);
    high = std::max(high, step.usd_per_mtok);
    if (endless) break;  // nothing after it can be reached
  }
  Frame frame;
  frame.x_max = std::max({finite, load.value_or(0.0), 1.0}) * (endless ? 1.25 : 1.05);
  const double span = high > low ? high - low : 1.0;
  frame.y_max = high + 0.12 * span;
  frame.y_min = low < 0.0 ? low - 0.06 * span : 0.0;
  return frame;
}

void draw_axes(std::string& svg, const Frame& f) {
  const double tick_y = tick_of(f.y_max - f.y_min, 6), tick_x = tick_of(f.x_max, 8);
  for (double v = std::ceil(f.y_min / tick_y) * tick_y; v <= f.y_max; v += tick_y)
    svg += fmt::format(
        "<line class=\"grid\" x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/><text class=\"tick end\" "
        "x=\"{:.1f}\" "
        "y=\"{:.1f}\">{:.4g}</text>\n",
        kLeft, kWidth - kRight, f.y(v), f.y(v), kLeft - 8, f.y(v) + 4, std::fabs(v) < tick_y / 2 ? 0.0 : v);
  for (double v = 0.0; v <= f.x_max; v += tick_x)
    svg += fmt::format(
        "<line class=\"axis\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.1f}\" y2=\"{2:.1f}\"/><text class=\"tick mid\" "
        "x=\"{0:.1f}\" "
        "y=\"{3:.1f}\">{4}</text>\n",
        f.x(v), kHeight - kBottom, kHeight - kBottom + 5, kHeight - kBottom + 20, axis_text(v));
  svg += fmt::format("<line class=\"axis\" x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>\n", kLeft,
                     kWidth - kRight, f.y(0.0), f.y(0.0));
  svg += fmt::format("<text class=\"label mid\" x=\"{:.1f}\" y=\"{:.1f}\">cumulative capacity, tokens/s</text>\n",
                     (kLeft + kWidth - kRight) / 2, kHeight - 16);
  svg += fmt::format(
      "<text class=\"label mid\" transform=\"rotate(-90)\" x=\"{:.1f}\" y=\"22\">effective marginal cost, "
      "USD/Mtok</text>\n",
      -(kTop + kHeight - kBottom) / 2);
}

void draw_steps(std::string& svg, std::string& names, const Snapshot& fleet, const SupplyCurve& curve, const Frame& f) {
  std::string outline;
  double left = 0.0, label_end = 0.0;
  for (const SupplyStep& step : curve.steps) {
    const double x = f.x(left), right = f.x(step.cumulative_tokens_per_s), top = f.y(std::max(step.usd_per_mtok, 0.0));
    const double height = std::max(2.0, std::fabs(f.y(step.usd_per_mtok) - f.y(0.0)));
    const std::string& name = fleet.fleet().destinations[step.destination.value].name;
    svg += fmt::format(
        "<rect class=\"{}{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"><title>{} ({}{}): {:.4g} "
        "USD/Mtok, "
        "{}</title></rect>\n",
        name_of(step.tier), step.beyond_knee ? " beyond" : "", x,
        std::min(top, f.y(0.0) - (step.usd_per_mtok >= 0 ? height : 0)), std::max(0.0, right - x), height, escape(name),
        name_of(step.tier), step.beyond_knee ? ", knee to cap" : "", step.usd_per_mtok, rate_text(step.tokens_per_s));
    outline += fmt::format("{}{:.1f},{:.1f}L{:.1f},{:.1f}", outline.empty() ? "M" : "L", x, f.y(step.usd_per_mtok),
                           right, f.y(step.usd_per_mtok));
    const double needed = 6.6 * static_cast<double>(name.size());
    if (right - x > needed + 6 && x >= label_end) {
      names += fmt::format("<text class=\"name mid\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", (x + right) / 2,
                           f.y(step.usd_per_mtok) - 6, escape(name));
      label_end = right;
    }
    left = step.cumulative_tokens_per_s;
    if (!std::isfinite(left)) break;
  }
  if (!outline.empty()) svg += "<path class=\"curve\" d=\"" + outline + "\"/>\n";
}

void draw_load(std::string& svg, const SupplyCurve& curve, const Frame& f, double load) {
  const double x = f.x(load);
  svg += fmt::format("<line class=\"load\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.1f}\" y2=\"{2:.1f}\"/>\n", x,
                     kTop - 14, kHeight - kBottom);
  const SupplyStep* step = marginal_step(curve, load);
  const bool on_left = x > kWidth * 0.6;
  const std::string text = step != nullptr
                               ? fmt::format("load {}: price {:.4g} USD/Mtok", rate_text(load), step->usd_per_mtok)
                               : fmt::format("load {}: more than there is", rate_text(load));
  svg += fmt::format("<text class=\"price {}\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", on_left ? "end" : "",
                     on_left ? x - 8 : x + 8, kTop - 4, text);
  if (step == nullptr) return;
  const double y = f.y(step->usd_per_mtok);
  svg += fmt::format(
      "<line class=\"load\" x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/><circle class=\"dot\" "
      "cx=\"{:.1f}\" "
      "cy=\"{:.1f}\" r=\"4.5\"/>\n",
      kLeft, x, y, y, x, y);
}

void draw_legend(std::string& svg, const SupplyCurve& curve) {
  double x = kLeft;
  const auto entry = [&](std::string_view style, std::string_view text) {
    svg += fmt::format(
        "<rect class=\"{}\" x=\"{:.1f}\" y=\"46\" width=\"13\" height=\"13\"/><text class=\"tick\" x=\"{:.1f}\" "
        "y=\"57\">{}"
        "</text>\n",
        style, x, x + 18, text);
    x += 34 + 7.0 * static_cast<double>(text.size());
  };
  bool beyond = false;
  for (std::size_t t = 0; t < kTiers; ++t) {
    const auto tier = static_cast<Tier>(t);
    const auto has = [&](const SupplyStep& s) { return s.tier == tier; };
    if (std::any_of(curve.steps.begin(), curve.steps.end(), has)) entry(name_of(tier), name_of(tier));
  }
  for (const SupplyStep& step : curve.steps) beyond |= step.beyond_knee;
  if (beyond) entry("owned beyond", "paler: from the knee to the cap, at the knee's price");
}

constexpr std::string_view kStyle = R"(<style>
svg{font:13px system-ui,sans-serif;background:var(--page);--page:#fff;--ink:#1c2733;--soft:#5b6b7a;--grid:#e3e8ee}
text{fill:var(--ink)}.tick,.label{fill:var(--soft)}.title{font-size:17px;font-weight:600}.mid{text-anchor:middle}.end{text-anchor:end}
.name{font-size:11px;paint-order:stroke;stroke:var(--page);stroke-width:3px}.grid{stroke:var(--grid)}.axis{stroke:var(--soft)}.curve{fill:none;stroke:var(--ink);stroke-width:1.6}
rect{stroke:var(--page);stroke-width:.6}.owned{fill:#2a9d72}.reserved{fill:#3b7dd8}.spot{fill:#d9a514}.on_demand{fill:#e07b39}.payg{fill:#a95fb8}
.beyond{fill-opacity:.35}.load{stroke:#d02b3f;stroke-width:1.6;stroke-dasharray:6 4}.dot{fill:#d02b3f}.price{fill:#d02b3f;font-weight:600}
@media(prefers-color-scheme:dark){svg{--page:#12181f;--ink:#e8edf2;--soft:#9fb0c0;--grid:#26303b}.load{stroke:#ff7385}.dot,.price{fill:#ff7385}}
</style>
)";

}  // namespace

std::string step_chart_svg(const Snapshot& fleet, const SupplyCurve& curve, std::optional<double> load) {
  const Frame frame = frame_of(curve, load);
  const std::string title = "Supply curve of " + escape(fleet.fleet().models[curve.model.value].name);
  const std::string what = fmt::format("for {} prompt and {:g} output tokens, at {}",
                                       static_cast<std::int64_t>(curve.prompt), curve.output, to_rfc3339(curve.at));
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" role=\"img\" "
      "aria-label=\"{2}\">\n",
      kWidth, kHeight, title);
  svg += kStyle;
  svg += fmt::format("<text class=\"title\" x=\"{}\" y=\"28\">{}</text>\n", kLeft, title);
  svg += fmt::format("<text class=\"tick end\" x=\"{}\" y=\"28\">{}</text>\n", kWidth - kRight, what);
  draw_axes(svg, frame);
  std::string names;  // drawn last, above the lines
  draw_steps(svg, names, fleet, curve, frame);
  draw_legend(svg, curve);
  if (curve.steps.empty())
    svg += fmt::format("<text class=\"label mid\" x=\"{}\" y=\"{}\">no destination can serve it</text>\n", kWidth / 2,
                       kHeight / 2);
  if (load) draw_load(svg, curve, frame, *load);
  svg += names + "</svg>\n";
  return svg;
}

}  // namespace ace
