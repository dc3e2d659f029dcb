#include "gateway/service.h"

#include "adapters/ledger_view.h"
#include "core/text.h"

namespace ace::gateway {

Result<std::shared_ptr<const World>> Service::read_world(const Config& config) const {
  std::vector<FleetText> files;
  Result<FleetReading> reading = options_.load(config, &files);
  if (!reading) return std::move(reading).error();
  return make_world(*std::move(reading), std::move(files), config.routes, options_.secrets);
}

Result<std::unique_ptr<Service>> Service::start(Options options) {
  std::unique_ptr<Service> service(new Service(std::move(options)));
  const Config& config = service->options_.config;
  Result<std::shared_ptr<const World>> world = service->read_world(config);
  if (!world) return std::move(world).error();
  Result<std::unique_ptr<Recording>> recording =
      Recording::open(config.spine_dir, service->options_.store, service->clock_, Recording::Behind::refuse);
  if (!recording) return std::move(recording).error().with("opening the spine");
  service->recording_ = *std::move(recording);
  if (Result<void> kept = service->recording_->keep((*world)->files); !kept) return std::move(kept).error();
  service->spine_ = std::make_unique<RecordingPort>(*service->recording_);

  // What budgets have left follows from the spine.
  const FleetText& file = (*world)->files.front();
  BudgetReading budgets = parse_budgets(file.text, file.name);
  if (!budgets.budgets.empty()) {
    LedgerOptions counting;
    counting.budgets = std::move(budgets.budgets);
    Result<LedgerOfSpine> ledger = ledger_of(config.spine_dir, counting);
    if (!ledger) return std::move(ledger).error().with("counting what budgets have left");
    service->budgets_ = std::make_unique<BudgetGate>(ledger->ledger.budgets());
  }

  DeskOptions desk;
  desk.mode = config.mode;
  desk.canary_ppm = config.canary_ppm;
  desk.alike = config.alike;
  desk.trial = config.trial;
  desk.serve_unledgered = config.serve_unledgered;
  desk.waiting_max = config.queue_length;
  desk.patience = config.patience;
  desk.seed = service->options_.seed;
  service->desk_ = std::make_unique<Desk>(*std::move(world), desk, *service->spine_, service->budgets_.get());
  service->callers_ = std::make_unique<OneCaller>(config.tenant);
  Result<std::unique_ptr<Gateway>> gateway = Gateway::start(
      {.config = config, .desk = service->desk_.get(), .callers = service->callers_.get(), .authorities = {}});
  if (!gateway) return std::move(gateway).error();
  service->gateway_ = *std::move(gateway);
  return service;
}

Result<std::vector<std::string>> Service::reload(const Config& next, bool acknowledged) {
  Result<std::shared_ptr<const World>> world = read_world(next);
  if (!world) return std::move(world).error();
  const std::shared_ptr<const World> before = desk_->world();
  if (const ReloadVerdict verdict = hold_reload(before->fleet, (*world)->fleet); verdict.held && !acknowledged)
    return Error(Errc::conflict,
                 "the fleet file changes what a person must acknowledge: " + listed(verdict.reasons, 8));
  Config& now = options_.config;
  const bool mode_changes = next.mode != now.mode || next.canary_ppm != now.canary_ppm || next.alike != now.alike;
  if (Result<void> kept = recording_->keep((*world)->files); !kept) return std::move(kept).error();
  if (mode_changes)
    if (Result<void> set = desk_->set_mode(reload_clock_.now(), {next.mode, next.canary_ppm, next.alike}, acknowledged);
        !set)
      return std::move(set).error();
  if (before->fleet.digest != (*world)->fleet.digest || before->routes != (*world)->routes) {
    desk_->change(reload_clock_.now(), *std::move(world));
  }
  std::vector<std::string> notes;
  const auto note = [&](const char* what, bool same) {
    if (!same) notes.push_back(std::string(what) + " changes with the next start");
  };
  note("listen", next.listen == now.listen);
  note("threads", next.threads == now.threads);
  note("spine", next.spine_dir == now.spine_dir && next.durability == now.durability &&
                    next.serve_unledgered == now.serve_unledgered);
  note("tenant", next.tenant == now.tenant);
  note("queue", next.queue_length == now.queue_length && next.patience == now.patience);
  note("timeouts", next.timeouts == now.timeouts);
  note("body_bytes", next.body_bytes == now.body_bytes);
  note("trial", next.trial == now.trial);
  now.mode = next.mode;
  now.canary_ppm = next.canary_ppm;
  now.alike = next.alike;
  now.routes = next.routes;
  now.drain = next.drain;
  return notes;
}

Result<Recording::Counts> Service::stop() {
  gateway_->drain(options_.config.drain);
  gateway_.reset();
  return recording_->close();
}

Service::~Service() = default;

}  // namespace ace::gateway
