/// fill() against published and exactly derived optima of economic dispatch without a network ("copper plate").
#include <simdjson.h>
#include <filesystem>

#include <gtest/gtest.h>

#include "dispatch/fill.h"

namespace ace {
namespace {

struct Case {
  std::vector<Step> steps;
  double fixed = 0.0;  ///< USD/h of all units at p_min
  double load = 0.0;   ///< MW above the sum of p_min
  double optimum = 0.0, lambda = 0.0;
};

/// Units start at p_min; what is above is cut into 4,096 steps at the chord's slope, so each step's cost is exact.
Case read_case(const std::string& path) {
  constexpr int kSteps = 4096;
  simdjson::dom::parser parser;
  const simdjson::dom::element document = parser.load(path);
  Case c;
  c.load = document["demand_mw"].get_double();
  std::uint32_t source = 0;
  for (const simdjson::dom::element unit : document["generators"].get_array()) {
    if (unit["status"].get_int64() != 1) continue;
    const double low = unit["pmin_mw"].get_double(), high = unit["pmax_mw"].get_double();
    const double c2 = unit["c2"].get_double(), c1 = unit["c1"].get_double(), c0 = unit["c0"].get_double();
    c.fixed += c0 + c1 * low + c2 * low * low;
    c.load -= low;
    const int cuts = c2 > 0.0 ? kSteps : 1;
    const double width = (high - low) / cuts;
    for (int k = 0; k < cuts; ++k) c.steps.push_back({source, c1 + 2.0 * c2 * (low + (k + 0.5) * width), width});
    ++source;
  }
  const simdjson::dom::element reference = document["reference"];
  c.optimum = reference["derived_copperplate_usd_per_h"].get_double();
  c.lambda = reference["derived_lambda_usd_per_mwh"].get_double();
  return c;
}

TEST(FillOnPglib, reaches_the_optimum_of_every_case) {
  std::size_t seen = 0;
  for (const auto& entry : std::filesystem::directory_iterator(ACE_DATA "/pglib-ed")) {
    if (entry.path().extension() != ".json") continue;
    const Case c = read_case(entry.path().string());
    const Result<Filled> filled = fill(c.steps, c.load);
    ASSERT_TRUE(filled) << entry.path();
    EXPECT_NEAR(filled->unserved, 0.0, 1e-6) << entry.path();
    EXPECT_NEAR((c.fixed + filled->cost) / c.optimum, 1.0, 1e-6) << entry.path();
    EXPECT_NEAR(filled->price / c.lambda, 1.0, 2e-2) << entry.path();  // to the width of one step
    ++seen;
  }
  EXPECT_EQ(seen, 12U);
}

TEST(FillOnPglib, agrees_with_the_published_totals_of_egret) {
  for (const std::string name : {"pglib_opf_case300_ieee", "pglib_opf_case30_ieee", "pglib_opf_case3_lmbd"}) {
    simdjson::dom::parser parser;
    const simdjson::dom::element egret =
        parser.load(ACE_DATA "/egret-copperplate/" + name + "_copperplate_dispatch_solution.json");
    const double published = egret["system"]["total_cost"].get_double();
    const Case c = read_case(ACE_DATA "/pglib-ed/" + name + ".json");
    EXPECT_NEAR((c.fixed + fill(c.steps, c.load)->cost) / published, 1.0, 1e-6) << name;
  }
}

}  // namespace
}  // namespace ace
