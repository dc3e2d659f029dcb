#include <gtest/gtest.h>

#include "fleet/budget.h"

namespace ace {
namespace {

std::string fleet_with(const std::string& budgets) {
  return "version: 1\n"
         "providers: {x: {jurisdictions: [eu]}}\n"
         "models: {large: {context: 1000}}\n"
         "tenants: {acme: {teams: [search, ads], projects: [p]}, other: {teams: [infra]}}\n"
         "destinations: [{id: api, tier: payg, provider: x, models: [large], unlimited: true}]\n" +
         budgets;
}
std::string mistakes_of_fleet(const std::string& yaml) {
  return describe(parse_fleet(
                      yaml, "fleet.yaml", {}, [](const std::string&) -> Result<std::string> { return std::string(); },
                      [](const std::string&) { return std::nullopt; })
                      .mistakes);
}

TEST(ParseBudgets, reads_who_for_how_long_and_how_much) {
  const std::string budgets =
      "budgets:\n"
      "  search: {tenant: acme, team: search, window: day, limit: \"300 USD\", enforce: soft}\n"
      "  all: {window: total, limit: \"0.5 USD\", model: large, key: k1, project: p}\n";
  for (const std::string& yaml : {fleet_with(budgets), budgets}) {
    const BudgetReading reading = parse_budgets(yaml, "fleet.yaml");
    ASSERT_TRUE(reading.mistakes.empty()) << describe(reading.mistakes);
    ASSERT_EQ(reading.budgets.size(), 2U);
    EXPECT_EQ(reading.budgets[0],
              (Budget{"all", "", "", "p", "k1", "large", Budget::Window::total, Usd{500'000'000}, true}));
    EXPECT_EQ(reading.budgets[1],
              (Budget{"search", "acme", "search", "", "", "", Budget::Window::day, Usd{300'000'000'000}, false}));
  }
  EXPECT_EQ(mistakes_of_fleet(fleet_with(budgets)), "");
  EXPECT_TRUE(parse_budgets(fleet_with(""), "fleet.yaml").budgets.empty());
}

TEST(ParseBudgets, are_checked_with_the_fleet_file_all_mistakes_at_once) {
  const std::string yaml = fleet_with(
      "budgets:\n"
      "  a: {tenant: acmee, window: week, limit: \"5 USD/h\"}\n"
      "  b: {tenant: acme, model: lrge, enforce: maybe, limits: 1}\n");
  for (const std::string& all : {mistakes_of_fleet(yaml), describe(parse_budgets(yaml, "fleet.yaml").mistakes)})
    for (const char* const said :
         {"there is no tenant \"acmee\"", "did you mean \"acme\"?", "week", "an amount of USD above zero",
          "there is no model \"lrge\"", "maybe", "window: month", "limit: \"500 USD\"", "limits"})
      EXPECT_NE(all.find(said), std::string::npos) << said << "\n" << all;
}

/// A name that nobody declared is masked before a budget sees it, so such a budget would hold for nothing.
TEST(ParseBudgets, a_team_or_project_must_be_one_of_its_tenants) {
  const auto said = [](const std::string& budget) {
    const std::string yaml = fleet_with("budgets:\n  b: {" + budget + ", window: day, limit: \"1 USD\"}\n");
    EXPECT_EQ(describe(parse_budgets(yaml, "fleet.yaml").mistakes), mistakes_of_fleet(yaml));
    return mistakes_of_fleet(yaml);
  };
  for (const char* const fine : {"tenant: acme, team: ads", "team: infra", "tenant: acme, project: p", "project: p",
                                 "tenant: acme, team: t_abcdefghij", "key: t_abcdefghij", "key: anything"})
    EXPECT_EQ(said(fine), "") << fine;
  const struct {
    const char *budget, *what;
  } cases[] = {{"tenant: acme, team: infra", "tenant \"acme\" has no team \"infra\""},
               {"tenant: acme, team: serch", "did you mean \"search\"?"},
               {"team: nobody", "there is no team \"nobody\""},
               {"tenant: other, project: p", "tenant \"other\" has no project \"p\""},
               {"project: q", "there is no project \"q\""}};
  for (const auto& c : cases) EXPECT_NE(said(c.budget).find(c.what), std::string::npos) << said(c.budget);
  const std::string unknown = said("tenant: acmee, team: search");  // one mistake, not two
  EXPECT_NE(unknown.find("there is no tenant \"acmee\""), std::string::npos);
  EXPECT_EQ(unknown.find("has no team"), std::string::npos) << unknown;
}

}  // namespace
}  // namespace ace
