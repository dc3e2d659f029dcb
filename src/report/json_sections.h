#pragma once
/// The sections of the report as JSON, one method each; what they mean is said in docs/REPORT.md.
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "report/report.h"

namespace ace::report {

using Json = nlohmann::ordered_json;

inline std::string usd(Usd amount) { return to_decimal(amount); }
/// A share, as a ratio of exact amounts; null where the denominator is not positive.
Json share(Usd part, Usd whole);
Json share(std::uint64_t part, std::uint64_t whole);

struct Sections {
  const Fleet& fleet;
  const Snapshot& snapshot;
  const Analysis& a;
  const Statement& s;

  // What was looked at and what happened: json_run.cc
  [[nodiscard]] Json coverage() const;
  [[nodiscard]] Json service() const;
  [[nodiscard]] Json goodput() const;
  [[nodiscard]] Json gates() const;
  [[nodiscard]] Json series() const;
  [[nodiscard]] Json sensitivity() const;
  [[nodiscard]] Json bounds() const;
  [[nodiscard]] Json slo_classes() const;
  /// Merit order where the trace's load meets it; an unlimited quota has no width of its own and is null.
  [[nodiscard]] Json supply_curves() const;
  [[nodiscard]] Json knees() const;
  [[nodiscard]] Json latency() const;
  /// Predicted against realised; null without a spine: json_realised.cc
  [[nodiscard]] Json realised(const Comparison* comparison) const;

  // What it cost, what it saved, and who pays: json_money.cc
  [[nodiscard]] Json headline() const;
  [[nodiscard]] Json baselines() const;
  [[nodiscard]] Json waterfall_bars() const;
  [[nodiscard]] Json levers() const;
  [[nodiscard]] Json fixed_cost() const;
  [[nodiscard]] Json destinations() const;
  /// Lines of the same tenant, team, model and destination over all hours.
  [[nodiscard]] Json chargeback() const;
  [[nodiscard]] Json settlement() const;

  // Names; empty for none.
  [[nodiscard]] std::string destination(DestinationId id) const {
    return id.valid() ? fleet.destinations[id.value].name : "";
  }
  [[nodiscard]] std::string model(ModelId id) const { return id.valid() ? fleet.models[id.value].name : ""; }
  [[nodiscard]] std::string slo(SloId id) const { return id.valid() ? fleet.slo_classes[id.value].name : ""; }
  [[nodiscard]] std::string tenant(std::uint32_t symbol) const {
    return symbol < a.tenants.size() ? a.tenants[symbol] : "";
  }
  [[nodiscard]] std::string team(std::uint32_t symbol) const { return symbol < a.teams.size() ? a.teams[symbol] : ""; }
};

}  // namespace ace::report
