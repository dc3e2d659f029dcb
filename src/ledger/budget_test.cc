#include "ledger/budget.h"

#include <atomic>
#include <deque>
#include <thread>

#include <gtest/gtest.h>

#include "core/rng.h"
#include "core/testing.h"

namespace ace {
namespace {

Budget budget(std::string name, Usd limit, Budget::Window window = Budget::Window::total, bool hard = true) {
  Budget b;
  b.name = std::move(name);
  b.limit = limit;
  b.window = window;
  b.hard = hard;
  return b;
}
bool admitted(const std::variant<BudgetTicket, BudgetRefusal>& answer) {
  return std::holds_alternative<BudgetTicket>(answer);
}

TEST(Budget, of_many_requests_at_once_exactly_those_that_fit_are_admitted) {
  constexpr int kThreads = 8, kEach = 125, kRounds = 100;
  for (int round = 0; round < kRounds; ++round) {
    // Two budgets, of which the second has room for exactly ten: holding one and not the other would refuse too many.
    BudgetGate gate(BudgetBook({budget("all", Usd{10'000}), budget("team", Usd{1'000})}));
    std::atomic<int> admissions{0};
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t)
      threads.emplace_back([&] {
        const std::vector<std::uint32_t> both = {0, 1};
        for (int i = 0; i < kEach; ++i)
          if (admitted(gate.reserve(both, Usd{100}, instant(5)))) admissions.fetch_add(1);
      });
    threads.clear();
    ASSERT_EQ(admissions.load(), 10);
    EXPECT_EQ(gate.book().left(1, instant(5)), Usd{0});
    EXPECT_EQ(gate.book().left(0, instant(5)), Usd{9'000});
    EXPECT_EQ(gate.book().account(1, instant(5)).refused, static_cast<std::uint64_t>(kThreads * kEach - 10));
  }
}

/// Any interleaving of reserve, post and release by any number of requests, against the definition.
TEST(Budget, never_holds_and_spends_more_than_its_limit_in_any_order_of_steps) {
  for_each_seed(300, [](Rng& rng) {
    std::vector<Budget> budgets;
    for (std::uint64_t i = 0, n = 1 + rng.below(4); i < n; ++i)
      budgets.push_back(
          budget("b" + std::to_string(i), Usd{rng.between(0, 2'000)}, Budget::Window::total, rng.chance(0.8)));
    BudgetBook book(budgets);
    struct Open {
      BudgetTicket ticket;
      std::vector<std::uint32_t> in;
    };
    std::deque<Open> open;
    std::vector<std::int64_t> spent(budgets.size()), held(budgets.size());
    for (int step = 0; step < 200; ++step) {
      if (open.empty() || rng.chance(0.5)) {
        std::vector<std::uint32_t> in;
        for (std::uint32_t b = 0; b < budgets.size(); ++b)
          if (rng.chance(0.6)) in.push_back(b);
        const std::int64_t amount = rng.between(0, 400);
        std::optional<std::uint32_t> short_one;
        for (const std::uint32_t b : in)
          if (!short_one && budgets[b].hard && spent[b] + held[b] + amount > budgets[b].limit.nano) short_one = b;
        const auto answer = book.reserve(in, Usd{amount}, instant(step));
        ASSERT_EQ(admitted(answer), !short_one.has_value());
        if (short_one) {
          const auto& refusal = std::get<BudgetRefusal>(answer);
          EXPECT_EQ(refusal.budget, *short_one);
          EXPECT_EQ(refusal.left.nano, budgets[*short_one].limit.nano - spent[*short_one] - held[*short_one]);
          continue;
        }
        for (const std::uint32_t b : in) held[b] += amount;
        open.push_back({std::get<BudgetTicket>(answer), in});
      } else {
        const std::size_t at = rng.below(open.size());
        const Open one = open[at];
        open.erase(open.begin() + static_cast<std::ptrdiff_t>(at));
        const std::int64_t cost = rng.chance(0.3) ? 0 : rng.between(0, one.ticket.held.nano);
        cost == 0 ? book.release(one.ticket) : book.post(one.ticket, Usd{cost}, instant(step));
        for (const std::uint32_t b : one.in) {
          held[b] -= one.ticket.held.nano;
          spent[b] += cost;
        }
      }
      for (std::uint32_t b = 0; b < budgets.size(); ++b) {
        EXPECT_EQ(book.account(b, instant(0)).spent.nano, spent[b]);
        EXPECT_EQ(book.account(b, instant(0)).held.nano, held[b]);
        EXPECT_TRUE(!budgets[b].hard || book.left(b, instant(0)) >= Usd{});
      }
    }
  });
}

TEST(Budget, begins_anew_with_its_window_and_posts_where_the_request_was_admitted) {
  const Instant noon = *parse_rfc3339("2026-11-30T23:59:59Z"), next = noon + kSecond;
  const struct {
    Budget::Window window;
    bool anew;
    const char* until;
  } cases[] = {{Budget::Window::hour, true, "2026-12-01T00:00:00Z"},
               {Budget::Window::day, true, "2026-12-01T00:00:00Z"},
               {Budget::Window::month, true, "2026-12-01T00:00:00Z"},
               {Budget::Window::total, false, ""}};
  for (const auto& c : cases) {
    BudgetBook book({budget("b", Usd{100}, c.window)});
    const std::vector<std::uint32_t> which = {0};
    const auto first = book.reserve(which, Usd{100}, noon);
    ASSERT_TRUE(admitted(first));
    const auto refused = book.reserve(which, Usd{1}, noon);
    ASSERT_FALSE(admitted(refused));
    EXPECT_TRUE(*c.until == '\0' || to_rfc3339(std::get<BudgetRefusal>(refused).until) == c.until);
    EXPECT_EQ(admitted(book.reserve(which, Usd{1}, next)), c.anew) << name_of(c.window);
    EXPECT_FALSE(admitted(book.reserve(which, Usd{100}, noon))) << "a clock that goes back opens no window again";
    book.post(std::get<BudgetTicket>(first), Usd{40}, next);
    EXPECT_EQ(book.account(0, noon).spent, Usd{40});
    EXPECT_EQ(book.account(0, next).spent, c.anew ? Usd{0} : Usd{40});
  }
}

TEST(Budget, opens_no_window_again_when_the_clock_goes_back) {
  BudgetBook book({budget("hourly", Usd{100}, Budget::Window::hour)});
  const std::vector<std::uint32_t> it = {0};
  const Instant hour = instant(0) + kHour;
  ASSERT_TRUE(admitted(book.reserve(it, Usd{100}, hour)));
  EXPECT_FALSE(admitted(book.reserve(it, Usd{100}, hour - kSecond))) << "the hour before had room, but it is over";
  EXPECT_TRUE(admitted(book.reserve(it, Usd{100}, hour + kHour)));
}

TEST(Budget, forgets_a_window_that_is_over_once_nothing_is_held_in_it) {
  BudgetBook book({budget("hourly", Usd{100}, Budget::Window::hour)});
  const std::vector<std::uint32_t> it = {0};
  const auto open = book.reserve(it, Usd{60}, instant(0));
  book.forget_before(instant(0) + kHour);
  EXPECT_EQ(book.account(0, instant(0)).held, Usd{60}) << "its request may still end";
  book.post(std::get<BudgetTicket>(open), Usd{10}, instant(0) + kHour);
  EXPECT_EQ(book.account(0, instant(0)).spent, Usd{10});
  book.forget_before(instant(0) + kHour);
  EXPECT_EQ(book.account(0, instant(0)).spent, Usd{});
}

TEST(Budget, a_soft_one_admits_and_tells_when_it_was_crossed) {
  BudgetBook book({budget("soft", Usd{100}, Budget::Window::total, false)});
  const std::vector<std::uint32_t> which = {0};
  for (int i = 1; i <= 3; ++i) {
    const auto ticket = book.reserve(which, Usd{60}, instant(i));
    ASSERT_TRUE(admitted(ticket));
    book.post(std::get<BudgetTicket>(ticket), Usd{50}, instant(10 * i));
  }
  EXPECT_EQ(book.account(0, instant(0)).crossed, instant(30));  // 50, 100, 150
}

TEST(Budget, is_not_crossed_by_a_request_that_costs_nothing_under_a_lowered_limit) {
  BudgetBook book({budget("soft", Usd{100}, Budget::Window::total, false)});
  const std::vector<std::uint32_t> which = {0};
  const auto first = book.reserve(which, Usd{60}, instant(1)), second = book.reserve(which, Usd{60}, instant(2));
  book.post(std::get<BudgetTicket>(first), Usd{50}, instant(3));
  book.change({budget("soft", Usd{40}, Budget::Window::total, false)});
  book.release(std::get<BudgetTicket>(second));
  EXPECT_EQ(book.account(0, instant(0)).crossed, std::nullopt);
  book.correct(std::get<BudgetTicket>(first), Usd{1}, instant(9));
  EXPECT_EQ(book.account(0, instant(0)).crossed, instant(9));
}

TEST(Budget, holds_for_the_requests_that_have_all_of_its_names) {
  Budget team = budget("search", Usd{1});
  team.tenant = "acme";
  team.team = "search";
  Budget model = budget("large", Usd{1});
  model.model = "large";
  const BudgetBook book({budget("all", Usd{1}), team, model});
  using Numbers = std::vector<std::uint32_t>;
  EXPECT_EQ(book.matching({"acme", "search", "", "", "large"}), (Numbers{0, 1, 2}));
  EXPECT_EQ(book.matching({"acme", "ads", "", "", "small"}), (Numbers{0}));
  EXPECT_EQ(book.matching({"corp", "search", "p", "k", "large"}), (Numbers{0, 2}));
}

TEST(Budget, goes_on_under_a_new_limit_and_keeps_what_a_retired_one_has) {
  BudgetBook book({budget("a", Usd{100}), budget("b", Usd{100})});
  const std::vector<std::uint32_t> both = {0, 1};
  const auto ticket = book.reserve(both, Usd{60}, instant(1));
  book.change({budget("b", Usd{70}), budget("c", Usd{5})});
  book.post(std::get<BudgetTicket>(ticket), Usd{60}, instant(2));
  EXPECT_TRUE(book.retired(0));
  EXPECT_EQ(book.account(0, instant(1)).spent, Usd{60});
  EXPECT_EQ(book.left(1, instant(1)), Usd{10});
  EXPECT_EQ(book.budgets()[2].name, "c");
  EXPECT_EQ(book.matching({}), (std::vector<std::uint32_t>{1, 2}));
}

TEST(Budget, that_is_new_begins_with_what_was_spent_before_and_leaves_the_others_as_they_are) {
  BudgetGate gate(BudgetBook({budget("a", Usd{100}), budget("b", Usd{100})}));
  const std::vector<std::uint32_t> both = {0, 1};
  const auto ticket = std::get<BudgetTicket>(gate.reserve(both, Usd{60}, instant(1)));
  gate.change({budget("b", Usd{100})}, BudgetBook());
  // A spine tells that "a" and "c" have spent 30 each, and "b" something that is counted here already.
  BudgetBook counted({budget("a", Usd{100}), budget("b", Usd{100}), budget("c", Usd{100})});
  const std::vector<std::uint32_t> all = {0, 1, 2};
  counted.post(counted.hold(all, Usd{50}, instant(1)), Usd{30}, instant(2));
  (void)counted.hold(all, Usd{7}, instant(3));  // under way: no ticket of ours
  gate.change({budget("a", Usd{90}), budget("b", Usd{80}), budget("c", Usd{70})}, counted);
  const BudgetBook book = gate.book();
  EXPECT_EQ(book.left(0, instant(4)), Usd{90 - 30 - 60}) << "it was retired, and its ticket holds on";
  EXPECT_EQ(book.left(1, instant(4)), Usd{80 - 60});
  EXPECT_EQ(book.left(2, instant(4)), Usd{70 - 30});
  EXPECT_EQ(book.account(2, instant(4)).requests, 2U);
  gate.post(ticket, Usd{10}, instant(5));
  EXPECT_EQ(gate.book().left(0, instant(5)), Usd{90 - 30 - 10});
}

}  // namespace
}  // namespace ace
