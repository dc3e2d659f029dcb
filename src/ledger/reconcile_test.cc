#include "ledger/reconcile.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "core/testing.h"
#include "ledger/ledger_testing.h"

namespace ace {
namespace {

using namespace ledger_testing;

constexpr std::int64_t kDayOne = 20'000;  // 2024-10-04

Billed billed(std::string provider, std::string model, std::int64_t day, std::optional<std::int64_t> output,
              std::optional<Usd> cost = {}) {
  return {std::move(provider), std::move(model), day, {}, {}, {}, output, cost};
}
Instant start_of(std::int64_t day) { return instant(day * nanos(kDay)); }

TEST(Reconcile, says_of_every_key_whether_it_is_equal) {
  using State = Reconciled::State;
  const std::vector<Billed> ours = {billed("a", "m", kDayOne, 10, micro(5)), billed("a", "n", kDayOne, 1),
                                    billed("b", "m", kDayOne, {}, micro(1)), billed("a", "m", kDayOne, 2, micro(1))};
  const std::vector<Billed> theirs = {billed("a", "m", kDayOne, 12, micro(7)), billed("a", "m", kDayOne + 1, 3),
                                      billed("b", "m", kDayOne, 4)};
  const std::vector<Reconciled> lines = reconcile(ours, theirs, start_of(kDayOne), start_of(kDayOne + 1));
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[0].state, State::differs);  // 12 tokens on both sides, but 6 against 7 millionths
  EXPECT_EQ(lines[0].ours.output, 12);
  EXPECT_EQ(lines[0].ours.cost, micro(6));
  EXPECT_TRUE(lines[0].whole_day);
  EXPECT_EQ(lines[1].state, State::only_theirs);
  EXPECT_FALSE(lines[1].whole_day);
  EXPECT_EQ(lines[2].state, State::only_ours);
  EXPECT_EQ(lines[3].state, State::silent);  // we state a cost, they state tokens
  EXPECT_EQ(reconciled_csv({lines[0]}),
            "provider,model,day,whole_day,state,figure,ours,theirs,difference\n"
            "a,m,2024-10-04,true,differs,output_tokens,12,12,0\n"
            "a,m,2024-10-04,true,differs,cost_usd,0.000006,0.000007,-0.000001\n");
}

TEST(Reconcile, a_figure_that_one_entry_does_not_state_is_not_stated_by_the_sum) {
  const std::vector<Reconciled> lines =
      reconcile({billed("a", "m", kDayOne, 1)}, {billed("a", "m", kDayOne, 1), billed("a", "m", kDayOne, {})},
                start_of(kDayOne), start_of(kDayOne + 1));
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_FALSE(lines[0].theirs.output.has_value());
  EXPECT_EQ(lines[0].state, Reconciled::State::silent);
}

TEST(Reconcile, a_ledger_agrees_with_its_own_bill_and_no_other) {
  const World w;
  for_each_seed(30, [&](Rng& rng) {
    std::vector<Settled> requests;
    for (int i = 0; i < 80; ++i) requests.push_back(any_request(w, rng));
    const Statement s = closed(w, requests);
    const std::vector<Billed> ours = billed_by_ledger(s, *w.fleet);
    std::int64_t output = 0, answered = 0;
    for (const Billed& b : ours) {
      output += *b.output;
      answered += *b.requests;
    }
    std::int64_t with_destination = 0, their_output = 0;
    for (const UsageLine& line : s.usage)
      if (line.destination.valid()) {
        with_destination += static_cast<std::int64_t>(line.requests);
        their_output += line.output;
      }
    EXPECT_EQ(answered, with_destination);
    EXPECT_EQ(output, their_output);
    std::vector<Billed> theirs = ours;
    rng.shuffle(std::span(theirs));
    for (const Reconciled& line : reconcile(ours, theirs, s.from, s.to))
      EXPECT_EQ(line.state, Reconciled::State::equal);
    if (theirs.empty()) return;
    *theirs.front().cost += Usd{1};  // a nano-dollar is seen
    const std::vector<Reconciled> lines = reconcile(ours, theirs, s.from, s.to);
    EXPECT_EQ(std::count_if(lines.begin(), lines.end(),
                            [](const Reconciled& l) { return l.state == Reconciled::State::differs; }),
              1);
  });
}

TEST(ParseBill, reads_totals_and_keeps_what_is_not_stated_apart_from_zero) {
  const Result<std::vector<Billed>> bill = parse_bill(
      "date,model,requests,prompt_tokens,cached_tokens,output_tokens,amount\n"
      "2024-10-04,m,2,100,0,7,0.000012\n"
      "2024-10-04T23:00:00-02:00,m,,,,9,\n",
      "day=date,cost_usd=amount", "a");
  ASSERT_TRUE(bill.has_value()) << bill.error().what();
  EXPECT_EQ(*bill, (std::vector<Billed>{{"a", "m", kDayOne, 2, 100, 0, 7, micro(12)},
                                        {"a", "m", kDayOne + 1, {}, {}, {}, 9, {}}}));
}

TEST(ParseBill, names_the_line_and_what_would_be_right) {
  const struct {
    const char* csv;
    const char* columns;
    const char* provider;
    const char* want;
  } cases[] = {
      {"model\nm\n", "", "a", "missing column \"day\""},
      {"day,model\n2024-10-04,m\n", "", "", "missing column \"provider\""},
      {"day,model\n2024-10-04,m\n", "cost=amount", "a", "expected NAME=COLUMN"},
      {"day,model\n2024-10-04,m\n", "cost_usd=amount", "a", "missing column \"amount\""},
      {"day,model\n04.10.2024,m\n", "", "a", "line 2: day: expected YYYY-MM-DD"},
      {"day,model,requests\n2024-10-04,m,-1\n", "", "a", "line 2: requests: expected a whole number"},
      {"day,model,requests\n2024-10-04,m,1.5\n", "", "a", "line 2: requests: expected a whole number"},
      {"day,model,cost_usd\n2024-10-04,m,$1\n", "", "a", "line 2: cost_usd: expected an amount in USD"},
      {"day,model,provider\n2024-10-04,m,\n", "", "", "line 2: provider: expected a provider"},
      {"", "", "a", "empty"},
  };
  for (const auto& c : cases) {
    const Result<std::vector<Billed>> bill = parse_bill(c.csv, c.columns, c.provider);
    ASSERT_FALSE(bill.has_value()) << c.csv;
    EXPECT_NE(bill.error().what().find(c.want), std::string::npos) << bill.error().what();
  }
}

}  // namespace
}  // namespace ace
