#include "report/step_chart.h"

#include <gtest/gtest.h>

namespace ace {
namespace {

std::size_t count_of(const std::string& text, std::string_view part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

Fleet fleet_of_one(const std::string& name) {
  Fleet fleet;
  fleet.providers.emplace_back();
  Model& model = fleet.models.emplace_back();
  model.name = "m";
  model.context_max = Tokens{8192};
  PriceRow& row = fleet.prices.rows.emplace_back();
  ContextTier& tier = row.tiers.emplace_back();
  for (Rates& rates : tier.by_service) {
    rates.set(Unit::input, {1'000'000'000});
    rates.set(Unit::output, {1'000'000'000});
  }
  Destination& d = fleet.destinations.emplace_back();
  d.name = name;
  d.provider = ProviderId{0};
  d.tpm = 60'000;
  Serving& s = d.serving.emplace_back();
  s.model = ModelId{0};
  s.price = PriceId{0};
  return fleet;
}

std::string chart_of(const Fleet& fleet, std::optional<double> load) {
  const Snapshot snapshot(fleet);
  Request request;
  request.model = ModelId{0};
  request.prompt = Tokens{1000};
  request.predicted = {250.0, 250.0};
  return step_chart_svg(snapshot, supply_curve(snapshot, Live(snapshot), request, Instant{}), load);
}

TEST(StepChart, marks_the_load_and_its_price) {
  // 60,000 tokens per minute are 1,000 per second, all at $1/Mtok
  const std::string svg = chart_of(fleet_of_one("api"), 500.0);
  EXPECT_NE(svg.find("load 500 tokens/s: price 1 USD/Mtok"), std::string::npos);
  EXPECT_NE(svg.find("api (payg): 1 USD/Mtok, 1000 tokens/s"), std::string::npos);
  EXPECT_NE(chart_of(fleet_of_one("api"), 1500.0).find("more than there is"), std::string::npos);
}

TEST(StepChart, lets_no_name_break_out_of_its_text) {
  const std::string svg = chart_of(fleet_of_one("<script>\"&"), std::nullopt);
  EXPECT_EQ(count_of(svg, "<script"), 0U);
  EXPECT_GT(count_of(svg, "&lt;script&gt;&quot;&amp;"), 0U);
}

TEST(StepChart, says_when_nobody_can_serve) {
  Fleet fleet = fleet_of_one("api");
  fleet.destinations[0].serving[0].price.reset();
  EXPECT_NE(chart_of(fleet, std::nullopt).find("no destination can serve it"), std::string::npos);
}

}  // namespace
}  // namespace ace
