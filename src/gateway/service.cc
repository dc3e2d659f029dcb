#include "gateway/service.h"

#include <algorithm>

#include "adapters/ledger_view.h"
#include "core/text.h"

namespace ace::gateway {

Result<std::shared_ptr<const World>> Service::read_world(const Config& config) const {
  std::vector<FleetText> files;
  Result<FleetReading> reading = options_.load(config, &files);
  if (!reading) return std::move(reading).error();
  return make_world(*std::move(reading), std::move(files), config.routes, options_.secrets);
}

namespace {

/// The world was read, so they are without a mistake.
std::vector<Budget> budgets_of(const World& world) {
  const FleetText& file = world.files.front();
  return parse_budgets(file.text, file.name).budgets;
}

}  // namespace

/// What budgets have left follows from the spine.
Result<BudgetBook> Service::counted(std::vector<Budget> budgets) const {
  if (budgets.empty()) return BudgetBook();
  if (Result<void> durable = recording_->flush(); !durable) return std::move(durable).error();
  LedgerOptions counting;
  counting.budgets = std::move(budgets);
  Result<LedgerOfSpine> ledger = ledger_of(options_.config.spine_dir, counting);
  if (!ledger) return std::move(ledger).error().with("counting what budgets have left");
  return ledger->ledger.budgets();
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

  Result<BudgetBook> budgets = service->counted(budgets_of(**world));
  if (!budgets) return std::move(budgets).error();
  service->budgets_ = std::make_unique<BudgetGate>(*std::move(budgets));

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
  service->desk_->accrue(service->now());  // what is paid, used or not, counts from here
  if (config.keys.empty()) {
    service->callers_ = std::make_unique<OneCaller>(config.tenant);
  } else {
    Result<std::unique_ptr<KeyBook>> keys = KeyBook::open(config.keys);
    if (!keys) return std::move(keys).error();
    service->keys_ = *std::move(keys);
    service->callers_ = std::make_unique<KeyCallers>(*service->keys_, service->limits_, service->metrics_);
  }
  if (config.cache) {
    AnswerCache::Options cache;
    cache.bytes = config.cache->bytes;
    cache.answer_bytes = config.cache->answer_bytes;
    cache.ttl = config.cache->ttl;
    service->cache_ = std::make_unique<AnswerCache>(cache);
  }
  service->watch();
  AdminOptions admin;
  admin.open = service->keys_ == nullptr;  // then the configuration lets it listen on this machine alone
  admin.version = service->options_.version;
  service->admin_ = std::make_unique<Admin>(admin, *service, service->keys_.get(), service->limits_, service->metrics_);
  Result<std::unique_ptr<SideLoop>> side = SideLoop::start({.config = config,
                                                            .admin = service->admin_.get(),
                                                            .limits = &service->limits_,
                                                            .metrics = &service->metrics_,
                                                            .desk = service->desk_.get(),
                                                            .version = service->options_.version});
  if (!side) return std::move(side).error();
  service->side_ = *std::move(side);
  Result<std::unique_ptr<Gateway>> gateway = Gateway::start({.config = config,
                                                             .desk = service->desk_.get(),
                                                             .callers = service->callers_.get(),
                                                             .meter = &service->meter_,
                                                             .cache = service->cache_.get(),
                                                             .tell = service->side_->tell(),
                                                             .salt = service->options_.salt,
                                                             .authorities = {}});
  if (!gateway) return std::move(gateway).error();
  service->gateway_ = *std::move(gateway);
  return service;
}

/// What is read when somebody looks.
void Service::watch() {
  metrics_.gauge("ace_requests_under_way", "Requests between admission and end.",
                 [this] { return static_cast<double>(desk_->view().in_flight); });
  metrics_.gauge("ace_requests_waiting", "Requests that wait for capacity.",
                 [this] { return static_cast<double>(desk_->view().waiting); });
  metrics_.gauge("ace_spine_writable", "1 while events can be recorded, else 0.",
                 [this] { return desk_->view().spine_down ? 0.0 : 1.0; });
  metrics_.gauge("ace_mode", "0 observe, 1 shadow, 2 canary, 3 inline.",
                 [this] { return static_cast<double>(desk_->view().mode); });
  metrics_.gauge("ace_demotions", "How often it stepped down by itself.",
                 [this] { return static_cast<double>(desk_->view().demotions); });
}

Instant Service::now() { return steering_clock_.now(); }

Result<std::vector<std::string>> Service::reload(const Config& next, bool acknowledged) {
  const std::scoped_lock lock(steering_);
  Result<std::shared_ptr<const World>> world = read_world(next);
  if (!world) return std::move(world).error();
  const std::shared_ptr<const World> before = desk_->world();
  if (const ReloadVerdict verdict = hold_reload(before->fleet, (*world)->fleet); verdict.held && !acknowledged)
    return Error(Errc::conflict,
                 "the fleet file changes what a person must acknowledge: " + listed(verdict.reasons, 8));
  Config& old = options_.config;
  std::vector<Budget> budgets = budgets_of(**world);
  const BudgetBook book = budgets_->book();
  const bool all_known = std::all_of(budgets.begin(), budgets.end(), [&](const Budget& b) { return book.has(b); });
  Result<BudgetBook> spent = all_known ? Result<BudgetBook>(BudgetBook()) : counted(budgets);
  if (!spent) return std::move(spent).error();
  const bool mode_changes = next.mode != old.mode || next.canary_ppm != old.canary_ppm || next.alike != old.alike;
  if (Result<void> kept = recording_->keep((*world)->files); !kept) return std::move(kept).error();
  if (mode_changes)
    if (Result<void> set = desk_->set_mode(now(), {next.mode, next.canary_ppm, next.alike}, acknowledged); !set)
      return std::move(set).error();
  if (before->fleet.digest != (*world)->fleet.digest || before->routes != (*world)->routes) {
    desk_->change(now(), *std::move(world));
  }
  budgets_->change(std::move(budgets), *spent);
  desk_->accrue(now());
  std::vector<std::string> notes;
  const auto note = [&](const char* what, bool same) {
    if (!same) notes.push_back(std::string(what) + " changes with the next start");
  };
  note("listen", next.listen == old.listen);
  note("threads", next.threads == old.threads);
  note("spine", next.spine_dir == old.spine_dir && next.durability == old.durability &&
                    next.serve_unledgered == old.serve_unledgered && next.strict == old.strict);
  note("keys or tenant", next.keys == old.keys && next.tenant == old.tenant);
  note("admin", next.admin == old.admin);
  note("cache", next.cache == old.cache);
  note("queue", next.queue_length == old.queue_length && next.patience == old.patience);
  note("telemetry", next.telemetry == old.telemetry);
  note("timeouts", next.timeouts == old.timeouts);
  note("body_bytes", next.body_bytes == old.body_bytes);
  note("trial", next.trial == old.trial);
  old.mode = next.mode;
  old.canary_ppm = next.canary_ppm;
  old.alike = next.alike;
  old.routes = next.routes;
  old.drain = next.drain;
  return notes;
}

Result<Recording::Counts> Service::stop() {
  draining_ = true;
  gateway_->drain(options_.config.drain);
  side_.reset();  // after the last request was told, and while whoever asks it can be answered
  gateway_.reset();
  {
    const std::scoped_lock lock(steering_);
    desk_->accrue(now(), Duration{0});
  }
  return recording_->close();
}

Service::~Service() = default;

}  // namespace ace::gateway
