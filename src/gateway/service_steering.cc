/// What an operator asks of a running gateway.
#include "gateway/service.h"

namespace ace::gateway {
namespace {

Result<Mode> mode_of(std::string_view word) {
  for (const Mode mode : {Mode::observe, Mode::shadow, Mode::canary, Mode::act})
    if (name_of(mode) == word) return mode;
  return Error(Errc::bad_input, "expected observe, shadow, canary or inline");
}

}  // namespace

std::vector<DestinationView> Service::destinations() {
  const std::scoped_lock lock(steering_);
  return desk_->destinations(now());
}

Result<CurveView> Service::supply_curve(std::string_view model, double prompt_tokens, double output_tokens) {
  const std::scoped_lock lock(steering_);
  return desk_->curve(now(), model, prompt_tokens, output_tokens);
}

std::vector<DecisionView> Service::decisions(std::size_t most) { return desk_->decisions(most); }

std::vector<BudgetView> Service::budgets() {
  Instant at;
  {
    const std::scoped_lock lock(steering_);
    at = now();
  }
  const BudgetBook book = budgets_->book();
  std::vector<BudgetView> out;
  for (std::uint32_t i = 0; i < book.budgets().size(); ++i) {
    if (book.retired(i)) continue;
    const Budget& budget = book.budgets()[i];
    const BudgetAccount account = book.account(i, at);
    out.push_back({budget.name, std::string(ace::name_of(budget.window)), budget.tenant, budget.team, budget.project,
                   budget.key, budget.model, budget.hard, budget.limit, account.spent, account.held, book.left(i, at),
                   end_of(budget.window, at)});
  }
  return out;
}

ModeView Service::mode() {
  const Desk::Standing standing = desk_->standing();
  const Desk::View view = desk_->view();
  ModeView out;
  out.mode = name_of(standing.mode.mode);
  out.canary_share = static_cast<double>(standing.mode.canary_ppm) * 1e-6;
  out.clean_windows = standing.clean;
  out.clean_windows_needed = standing.clean_needed;
  out.in_flight = view.in_flight;
  out.waiting = view.waiting;
  out.demoted = standing.demoted;
  out.spine_writable = !view.spine_down;
  out.draining = draining_;
  return out;
}

TrialView Service::trial(std::size_t most) {
  const Desk::Standing standing = desk_->standing();
  TrialView out;
  out.gates = options_.config.trial;  // changes with the next start alone
  out.clean = standing.clean;
  out.total = standing.total;
  out.difference = standing.difference;
  out.demoted = standing.demoted;
  for (auto it = standing.windows.rbegin(); it != standing.windows.rend() && out.windows.size() < most; ++it)
    out.windows.push_back(*it);
  return out;
}

Result<void> Service::set_mode(std::string_view word, double canary_share, bool forced) {
  const std::scoped_lock lock(steering_);
  const Result<Mode> mode = mode_of(word);
  if (!mode) return Error(mode.error());
  if (*mode == Mode::canary && !(canary_share > 0.0 && canary_share <= 1.0))
    return Error(Errc::bad_input, "mode canary needs a share above 0 and at most 1");
  const Desk::Wanted wanted{*mode, *mode == Mode::canary ? static_cast<std::int64_t>(canary_share * 1e6 + 0.5) : 0,
                            false};
  if (Result<void> set = desk_->set_mode(now(), wanted, forced); !set) return set;
  desk_->accrue(now());
  options_.config.mode = wanted.mode;
  options_.config.canary_ppm = wanted.canary_ppm;
  options_.config.alike = false;
  return {};
}

void Service::drain() {
  if (options_.on_drain) options_.on_drain();
}

std::string Service::config() {
  const std::scoped_lock lock(steering_);
  return options_.text;
}

Result<void> Service::validate(std::string_view text) {
  const Result<Config> config = options_.parse(std::string(text));
  if (!config) return Error(config.error());
  const Result<std::shared_ptr<const World>> world = read_world(*config);
  return world ? Result<void>() : Result<void>(Error(world.error()));
}

Result<std::vector<std::string>> Service::apply(std::string_view text, bool acknowledged) {
  const Result<Config> config = options_.parse(std::string(text));
  if (!config) return Error(config.error());
  Result<std::vector<std::string>> notes = reload(*config, acknowledged);
  if (!notes) return notes;
  const std::scoped_lock lock(steering_);
  text_before_ = std::exchange(options_.text, std::string(text));
  return notes;
}

Result<std::vector<std::string>> Service::rollback() {
  std::string before;
  {
    const std::scoped_lock lock(steering_);
    before = text_before_;
  }
  if (before.empty()) return Error(Errc::not_found, "there is no configuration before this one");
  return apply(before, true);
}

}  // namespace ace::gateway
