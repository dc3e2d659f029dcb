#include "cli/plan_size_terms.h"

#include <fmt/format.h>

#include <charconv>

#include "core/text.h"

namespace ace::cli {

Result<Term> term_from(const std::string& text) {
  const auto wrong = [&] {
    return Error(Errc::bad_input, fmt::format("--term: expected NAME:PERIODS:FEE or NAME:PERIODS:FEE:UPFRONT, as "
                                              "year:12:221, got \"{}\"",
                                              text.substr(0, 64)));
  };
  std::vector<std::string> fields(1);
  for (const char c : text)
    if (c == ':')
      fields.emplace_back();
    else
      fields.back() += c;
  constexpr std::size_t kPeriodsMost = 1'000'000;
  if (fields.size() < 3 || fields.size() > 4 || fields[0].empty()) return wrong();
  Term term{.name = fields[0]};
  const char* const end = fields[1].data() + fields[1].size();
  const auto read = std::from_chars(fields[1].data(), end, term.periods);
  const Result<std::int64_t> fee = parse_decimal(fields[2], 9),
                             upfront = parse_decimal(fields.size() > 3 ? fields[3] : "0", 9);
  if (read.ec != std::errc{} || read.ptr != end || term.periods == 0 || term.periods > kPeriodsMost || !fee ||
      !upfront || *fee < 0 || *upfront < 0)
    return wrong();
  term.fee = Usd{*fee};
  term.upfront = Usd{*upfront};
  return term;
}

std::string calendar_text(const std::string& series, const TermProblem& problem, const TermPlan& plan) {
  std::string out =
      fmt::format("{}: terms of {} over {} periods, all of them known\n\n{:<22} {:>8} {:>14} {:<20}\n", series,
                  problem.supply.name, plan.periods.size(), "period from", "held", "PAYG", "  buy");
  for (std::size_t p = 0; p < plan.periods.size(); ++p) {
    std::vector<std::string> buy;
    for (const TermPlan::Bought& b : plan.bought)
      if (b.period == p)
        buy.push_back(fmt::format("{} {} for {}", b.units, problem.terms[b.term].name, to_display(b.fee)));
    out += fmt::format("{:<22} {:>8} {:>14}   {}\n", to_rfc3339(plan.periods[p].start), plan.periods[p].held,
                       to_display(plan.periods[p].payg), listed(buy));
  }
  return out + fmt::format("\nfees {} + PAYG {} = {}; all PAYG {}; proven to {:.2g}\n", to_display(plan.fees),
                           to_display(plan.payg), to_display(plan.total()), to_display(plan.all_payg), plan.gap);
}

std::string calendar_json(const std::string& series, const TermProblem& problem, const TermPlan& plan) {
  const auto money = [](Usd amount) { return json_text(to_decimal(amount)); };
  std::string out = fmt::format(
      R"({{"series":{},"supply":{},"fees_usd":{},"payg_usd":{},"total_usd":{},"all_payg_usd":{},"periods":[)",
      json_text(series), json_text(problem.supply.name), money(plan.fees), money(plan.payg), money(plan.total()),
      money(plan.all_payg));
  for (std::size_t p = 0; p < plan.periods.size(); ++p)
    out += fmt::format(R"({}{{"from":"{}","held_units":{},"payg_usd":{}}})", p == 0 ? "" : ",",
                       to_rfc3339(plan.periods[p].start), plan.periods[p].held, money(plan.periods[p].payg));
  out += "],\"buy\":[";
  for (std::size_t i = 0; i < plan.bought.size(); ++i) {
    const TermPlan::Bought& b = plan.bought[i];
    out += fmt::format(R"({}{{"from":"{}","term":{},"units":{},"fee_usd":{}}})", i == 0 ? "" : ",",
                       to_rfc3339(plan.periods[b.period].start), json_text(problem.terms[b.term].name), b.units,
                       money(b.fee));
  }
  return out + "]}";
}

}  // namespace ace::cli
