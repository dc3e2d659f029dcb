#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "report/numbers.h"
#include "report/report.h"

namespace ace {
namespace {

using Json = nlohmann::ordered_json;

/// The decimal strings of the report are exact; people read cents.
std::string dollars(const Json& value) {
  const auto nano = parse_decimal(value.get<std::string>(), 9);
  return nano ? to_display(Usd{*nano}) : value.get<std::string>();
}

std::string percent(const Json& share, int decimals = 1) {
  return share.is_null() ? "  n/a" : fixed(share.get<double>() * 100.0, decimals) + "%";
}

std::string points(const Json& change) {
  const std::string text = fixed(change.get<double>() * 100.0, 1);
  return text[0] == '-' ? text : "+" + text;
}

std::string count(const Json& value) {
  std::string text = std::to_string(value.get<std::int64_t>());
  for (std::size_t at = text.size(); at > 3 + (text[0] == '-' ? 1U : 0U);) text.insert(at -= 3, 1, ',');
  return text;
}

bool zero(const Json& usd) {
  const auto nano = parse_decimal(usd.get<std::string>(), 9);
  return nano && *nano == 0;
}

class Page {
 public:
  explicit Page(const Json& j) : j_(j) {}

  std::string print() {
    source();
    coverage();
    headline();
    waterfall();
    levers();
    service();
    realised();
    gates();
    destinations();
    bounds();
    sensitivity();
    chargeback();
    ledger();
    assumptions();
    return std::move(out_);
  }

 private:
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    out_ += fmt::format(format, std::forward<Args>(args)...);
    out_ += '\n';
  }
  void title(std::string_view text) { line("\n{}", text); }

  void source() {
    const Json& source = j_["source"];
    const Json& window = j_["window"];
    line("ACE {}   {} on {}", j_.contains("ledger") ? "ledger" : "savings report", source["trace"].get<std::string>(),
         source["fleet"].get<std::string>());
    line("{}, {} rows, {} to {}", source["format"].get<std::string>(), count(j_["coverage"]["rows"]),
         window["from"].get<std::string>(), window["to"].get<std::string>());
  }

  void coverage() {
    const Json& c = j_["coverage"];
    title("COVERAGE");
    line("  priced requests    {:>18}  {:>7} of {}", count(c["priced_requests"]), percent(c["priced_share"], 2),
         count(c["requests_considered"]));
    for (const Json& e : c["excluded"])
      line("  excluded           {:>18}  {:>7} of the baseline: {}, {} requests", dollars(e["cost_usd"]),
           percent(e["share_of_baseline"], 2), e["reason"].get<std::string>(), count(e["requests"]));
    for (const Json& e : c["not_replayed"])
      line("  not replayed       {:>18}  requests: {}{}", count(e["requests"]), e["reason"].get<std::string>(),
           e["logged_cost_usd"] == "0.00" ? "" : fmt::format("; the log says {}", dollars(e["logged_cost_usd"])));
    for (const Json& e : c["rows_skipped"])
      line("  rows skipped       {:>18}  {} (first at line {})", count(e["rows"]), e["reason"].get<std::string>(),
           e["first_lines"].empty() ? 0 : e["first_lines"][0].get<std::int64_t>());
  }

  /// A ledger over a spine may lack what capacity costs whether it is used or not.
  bool fully_loaded() { return !j_.contains("ledger") || j_["ledger"].value("fully_loaded", true); }

  void headline() {
    const Json& h = j_["headline"];
    title("SAVINGS");
    line("  {:<20} {:>16}", "baseline", dollars(h["baseline_usd"]));
    line("  {:<20} {:>16}   marginal {} + fixed {}", "actual cost", dollars(h["actual_fully_loaded_usd"]),
         dollars(h["actual_marginal_usd"]), dollars(h["fixed_usd"]));
    line("  {:<20} {:>16}   {} of the {} baseline, {} ({})", "counted saving", dollars(h["counted_saving_usd"]),
         percent(h["counted_saving_share"]), h["baseline"].get<std::string>(),
         fully_loaded() ? "fully loaded" : "before fixed cost that is not recorded", h["grade"].get<std::string>());
    line("  {:<20} {:>16}   {} before fixed cost", "marginal view", dollars(h["counted_marginal_saving_usd"]),
         percent(h["counted_marginal_saving_share"]));
    for (const Json& r : h["other_servers"])
      line("  {:<20} {:>16}   {}: {} points", "", percent(r["saving_share"]), r["what"].get<std::string>(),
           points(r["change"]));
    line("  {:<20} {:>16}   by the gates below", "disallowed", dollars(h["disallowed_usd"]));
    if (!zero(h["assumed_routing_usd"]))
      line("  {:<20} {:>16}   routing without quality evidence, outside the headline", "assumed",
           dollars(h["assumed_routing_usd"]));
    title("AGAINST EACH BASELINE");
    line("  {:<26}{:>16}{:>18}{:>9}", "", "baseline", "counted saving", "share");
    for (const Json& b : j_["baselines"])
      line("  {:<26}{:>16}{:>18}{:>9}{}", b["baseline"].get<std::string>(), dollars(b["baseline_usd"]),
           dollars(b["counted_saving_usd"]), percent(b["counted_saving_share"]),
           b.contains("slo_share") ? fmt::format("  {} of fixed cost on both sides; it meets the SLO of {}",
                                                 dollars(b["fixed_on_both_sides_usd"]), percent(b["slo_share"], 2))
                                   : "");
  }

  void waterfall() {
    const std::string baseline = j_["headline"]["baseline"];
    title("WATERFALL (claimed, against " + (baseline == "all-payg-uncached" ? baseline : "all-payg") + ")");
    double largest = 1e-9;
    for (const Json& b : j_["waterfall"]) largest = std::max(largest, std::abs(std::stod(b["usd"].get<std::string>())));
    for (const Json& b : j_["waterfall"]) {
      const double value = std::stod(b["usd"].get<std::string>());
      const auto width = static_cast<std::size_t>(std::abs(value) / largest * 30.0 + 0.5);
      line("  {:<20} {:>16}  {}", b["bar"].get<std::string>(), dollars(b["usd"]),
           std::string(width, b["total"].get<bool>() ? '#'
                              : value < 0            ? '-'
                                                     : '+'));
    }
  }

  void levers() {
    title("LEVERS");
    line("  {:<14}{:>16}{:>16}{:>16}{:>16}   over 24 orders", "", "claimed", "disallowed", "counted", "Shapley");
    for (const Json& l : j_["levers"])
      line("  {:<14}{:>16}{:>16}{:>16}{:>16}   {} .. {}", l["lever"].get<std::string>(), dollars(l["claimed_usd"]),
           dollars(l["disallowed_usd"]), dollars(l["counted_usd"]), dollars(l["shapley_usd"]),
           dollars(l["shapley_low_usd"]), dollars(l["shapley_high_usd"]));
    if (!zero(j_["unattributed"]["claimed_usd"]))
      line("  {:<14}{:>16}{:>16}{:>16}", "unattributed", dollars(j_["unattributed"]["claimed_usd"]), "",
           dollars(j_["unattributed"]["counted_usd"]));
  }

  void service() {
    const Json& s = j_["service"];
    title("SERVICE");
    line("  served   {:>9} of {} requests", percent(s["served_share"], 2), count(s["requests"]));
    line("  SLO      {:>9} of served requests met every limit of their class", percent(s["slo_share"], 2));
    for (const Json& n : s["not_served"])
      line("  refused  {:>9} requests: {}", count(n["requests"]), n["verdict"].get<std::string>());
    line("  spilled  {:>9}, retried {}, evictions {}", count(s["spilled"]), count(s["retried"]), count(s["evictions"]));
    if (s["reserve_short_requests"] != 0)
      line("  reserve  {:>9} requests came while no headroom was left for the loss of the largest destination",
           count(s["reserve_short_requests"]));
    if (!s["held_back_requests"].is_null() && s["held_back_requests"] != 0)
      line("  reserve  {:>9} requests that could wait were held back for it", count(s["held_back_requests"]));
    const Json& g = j_["goodput"];
    if (!g["tokens_per_fully_loaded_usd"].is_null())
      line("  goodput  {:>9.0f} output tokens inside SLO per {} dollar{}",
           g["tokens_per_fully_loaded_usd"].get<double>(), fully_loaded() ? "fully loaded" : "recorded",
           g["tokens_per_avoidable_usd"].is_null()
               ? ""
               : fmt::format(", {:.0f} per avoidable dollar", g["tokens_per_avoidable_usd"].get<double>()));
    line("  peak     {:>9} tokens per minute, which all-payg assumes its providers would take",
         count(s["peak_tokens_per_minute"]));
  }

  void realised() {
    if (j_["realised"].is_null()) return;
    const Json& r = j_["realised"];
    title("PREDICTED AGAINST REALISED (first line: what happened; second: what this fleet would have done)");
    line("  {:<22}{:<20}{:>9}{:>14}{:>9}{:>9}{:>9}{:>9}{:>10}{:>10}", "model", "destination", "served", "marginal",
         "SLO", "spilled", "TTFT p50", "p95", "TPOT p50", "p95");
    const auto both = [&](const std::string& model, const std::string& destination, const Json& pair) {
      for (const char* side : {"realised", "predicted"}) {
        const Json& e = pair[side];
        const bool first = side[0] == 'r';
        const auto time = [](const Json& seconds, double scale, int decimals, const char* unit) {
          return seconds.is_null() ? std::string("n/a") : fixed(seconds.get<double>() * scale, decimals) + unit;
        };
        line("  {:<22}{:<20}{:>9}{:>14}{:>9}{:>9}{:>9}{:>9}{:>10}{:>10}", first ? model : "", first ? destination : "",
             count(e["served"]), dollars(e["marginal_usd"]), percent(e["slo_share"], 2), percent(e["spilled_share"], 2),
             time(e["ttft_s_p50"], 1.0, 2, " s"), time(e["ttft_s_p95"], 1.0, 2, " s"),
             time(e["tpot_s_p50"], 1e3, 1, " ms"), time(e["tpot_s_p95"], 1e3, 1, " ms"));
      }
    };
    for (const Json& part : r["by_destination"])
      both(part["model"].get<std::string>(),
           part["destination"].get<std::string>().empty() ? "(none)" : part["destination"].get<std::string>(), part);
    both("all", "", r["total"]);
    line("  fixed cost: realised {}, predicted {}", dollars(r["total"]["realised"]["fixed_usd"]),
         dollars(r["total"]["predicted"]["fixed_usd"]));
    if (const auto unpriced = r["total"]["realised"]["unpriced"].get<std::int64_t>(); unpriced > 0)
      line("  {} served requests are not in the realised cost: nobody says what they cost",
           count(r["total"]["realised"]["unpriced"]));
  }

  void gates() {
    const Json& g = j_["gates"];
    title("GATES");
    line("  {} of {} cells (hour x tenant x model) failed", count(g["failed_cells"]), count(g["cells"]));
    for (const Json& r : g["by_reason"])
      line("  {:<24}{:>12} requests{:>16} disallowed", r["reason"].get<std::string>(), count(r["requests"]),
           dollars(r["disallowed_usd"]));
  }

  void destinations() {
    title("DESTINATIONS");
    line("  {:<24}{:<11}{:>8}{:>12}{:>16}{:>16}{:>16}", "", "tier", "in use", "requests", "tokens", "marginal",
         "fixed");
    for (const Json& d : j_["destinations"])
      line("  {:<24}{:<11}{:>8}{:>12}{:>16}{:>16}{:>16}", d["destination"].get<std::string>(),
           d["tier"].get<std::string>(), d["tier"] == "payg" ? "" : percent(d["used_share"]), count(d["requests"]),
           count(d["tokens"]), dollars(d["marginal_usd"]), dollars(d["fixed_usd"]));
  }

  void bounds() {
    if (j_["bounds"].is_null()) return;
    const Json& b = j_["bounds"];
    title("SHARE OF THE POSSIBLE");
    line("  dispatch bound     {:>16}   {} of the saving that any dispatch of these requests on this fleet could reach",
         dollars(b["dispatch_bound_usd"]), percent(b["dispatch_share_of_possible"]));
    line(
        "  plan bound         {:>16}   {} of what it could reach had it also chosen units and commitments with "
        "foresight",
        dollars(b["plan_bound_usd"]), percent(b["plan_share_of_possible"]));
  }

  void sensitivity() {
    const Json& s = j_["sensitivity"];
    if (s["rows"].empty()) return;
    title(
        fmt::format("SENSITIVITY (counted saving as a share of the {} baseline; {} of the requests, capacity scaled "
                    "alike)",
                    s["baseline"].get<std::string>(), percent(s["sample_share"], 0)));
    for (const Json& r : s["rows"])
      line("  {:<44}{:>9}{:>9} points;{:>9} claimed,{:>12} disallowed, {} cells failed{}", r["what"].get<std::string>(),
           percent(r["saving_share"]), points(r["change"]), percent(r["claimed_share"]), dollars(r["disallowed_usd"]),
           count(r["failed_cells"]), r["baseline"] == s["baseline"] ? "" : "; of " + r["baseline"].get<std::string>());
  }

  void chargeback() {
    title("CHARGEBACK (largest lines; all in --json)");
    std::vector<const Json*> lines;
    for (const Json& c : j_["chargeback"]) lines.push_back(&c);
    std::stable_sort(lines.begin(), lines.end(), [](const Json* a, const Json* b) {
      return std::stod((*a)["total_usd"].get<std::string>()) > std::stod((*b)["total_usd"].get<std::string>());
    });
    line("  {:<18}{:<22}{:<22}{:>10}{:>15}{:>15}", "tenant", "model", "destination", "requests", "total", "baseline");
    for (std::size_t i = 0; i < std::min<std::size_t>(lines.size(), 12); ++i) {
      const Json& c = *lines[i];
      line("  {:<18}{:<22}{:<22}{:>10}{:>15}{:>15}",
           c["tenant"].get<std::string>().empty() ? "(none)" : c["tenant"].get<std::string>(),
           c["model"].get<std::string>(),
           c["destination"].get<std::string>().empty() ? "(none)" : c["destination"].get<std::string>(),
           count(c["requests"]), dollars(c["total_usd"]), dollars(c["baseline_usd"]));
    }
  }

  void ledger() {
    if (!j_.contains("ledger")) return;
    const Json& l = j_["ledger"];
    title("LEDGER");
    line("  {} records folded; {} requests under way", count(l["records"]), count(l["requests_pending"]));
    const auto said = [&](const char* key, const char* what) {
      if (l[key].get<std::int64_t>() > 0) line("  {:>18}  {}", count(l[key]), what);
    };
    if (l["requests_estimated"].get<std::int64_t>() > 0)
      line("  {:>18}  requests without an end, estimated at {}", count(l["requests_estimated"]),
           dollars(l["estimated_usd"]));
    said("corrections", "facts came after their request was booked");
    said("corrections_of_closed_cells", "of them in cells that were closed");
    said("requests_without_admission", "requests of which the log has no beginning");
    if (l.contains("requests_unpriced"))
      said("requests_unpriced", "requests were handed on unread: they have no price, and are in no amount here");
    said("gaps", "gaps: what was decided in them is disallowed");
    said("gpu_bookings_refused", "bookings of GPU time that was booked already");
    if (l.contains("records_acknowledged_early"))
      said("records_acknowledged_early",
           "records were acknowledged before they were durable (relaxed): a loss of power may have taken others");
    if (l.contains("fixed_costs_refused"))
      said("fixed_costs_refused", "stretches of fixed cost that were booked already, and do not count again");
    std::map<std::string, Usd> sums;
    for (const Json& b : l["balances"]) {
      const auto nano = parse_decimal(b["usd"].get<std::string>(), 9);
      if (nano) sums[b["account"].get<std::string>()] += Usd{*nano};
    }
    for (const auto& [account, amount] : sums) line("  {:<18} {:>18}", account, to_display(amount));
  }

  void assumptions() {
    title("ASSUMPTIONS");
    for (const Json& a : j_["assumptions"]) line("  - {}", a.get<std::string>());
  }

  const Json& j_;
  std::string out_;
};

}  // namespace

std::string to_terminal(std::string_view json) {
  const Json j = Json::parse(json);
  return Page(j).print();
}

}  // namespace ace
