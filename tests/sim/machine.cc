#include "machine.h"

#include <fmt/format.h>

#include "core/hash.h"

namespace ace::sim {

using spine::Appended;
using spine::MemoryDisk;

Machine::Machine(std::uint64_t seed, const spine::Signer& signer)
    : rng_(seed, "machine"), now_(instant(1'800'000'000'000'000'000)) {
  options_.log.segment_bytes = 24U << 10;
  options_.log.reserve_bytes = 12U << 10;
  options_.log.checkpoint_records = 20 + rng_.below(100);
  options_.log.signer = &signer;
  options_.workers = 1 + static_cast<std::uint32_t>(rng_.below(3));
  options_.spool_bytes = 8U << 10;
  options_.batch_bytes = 4U << 10;
  for (auto& byte : options_.log.id) byte = static_cast<std::uint8_t>(rng_.below(256));
  if (rng_.chance(0.2)) options_.log.durability = spine::Durability::strict;
}

void Machine::arm(const Fault& fault) {
  using Kind = Fault::Kind;
  disk_.heal();
  disk_.cut_power_at(fault.kind == Kind::power ? fault.at : ~std::uint64_t{0});
  if (fault.kind == Kind::input_output) disk_.fail_at(fault.at, false, false);
  if (fault.kind == Kind::full || fault.kind == Kind::full_once)
    disk_.fail_at(fault.at, true, fault.kind == Kind::full);
  disk_.fail_sync_at(fault.kind == Kind::sync ? fault.at : ~std::uint64_t{0});
  fail_allocation(fault.kind == Kind::allocation ? fault.at + 1 : 0);
}

void Machine::end(const Fault& fault) {
  fail_allocation(0);
  store_.reset();
  in_flight_.clear();
  const bool power = fault.kind == Fault::Kind::power;
  if (power) must_keep_all_ = false;
  disk_.restart(power ? fault.loss : MemoryDisk::Loss::none, rng_);
}

void Machine::open() {
  Result<std::unique_ptr<spine::Store>> store = spine::Store::open(disk_, options_, now_);
  if (!store) throw Error(store.error());
  store_ = *std::move(store);
  store_->acked = [this](std::uint32_t worker, std::uint64_t position, const Appended& appended) {
    const Unharmed harness;
    const auto found = in_flight_.find({worker, position});
    if (found == in_flight_.end()) return;  // left by an earlier process: nobody waits
    const Offered& offered = found->second;
    if (appended.outcome == Appended::Outcome::created) created_[appended.sequence] = offered.bytes;
    if (appended.outcome == Appended::Outcome::conflict) conflicts_[offered.key].insert(offered.bytes);
    in_flight_.erase(found);
  };
}

/// Boots with a fault; whatever that does, boots again without.
void Machine::boot(const Fault& fault) {
  for (int attempt = 0; attempt < 2; ++attempt) {
    const Fault now = attempt == 0 ? fault : Fault{};
    try {
      arm(now);
      open();
      boot_operations = disk_.operations();
      fail_allocation(0);
      disk_.heal();
      return;
    } catch (const spine::PowerCut&) {
      end(now);
    } catch (const std::bad_alloc&) {
      end(now);
    } catch (const Error& error) {
      if (attempt == 1 || now.kind == Fault::Kind::none) throw Broken{"the log does not open again: " + error.what()};
      end(now);
    }
  }
}

void Machine::offer() {
  const Unharmed harness;  // a worker that finds no memory has offered nothing
  event::Record record;
  const bool again = !keys_.empty() && rng_.chance(0.15);
  const bool other = again && rng_.chance(0.4);
  event::Completed e;
  if (again) {
    const event::Key& key = keys_[rng_.below(keys_.size())];
    record.id = key.id;
    record.tenant = key.tenant;
    const auto decoded = event::decode(*offered_[key].begin());
    e = std::get<event::Completed>(decoded->event);
  } else {
    const RequestId id = make_request_id(now_, rng_);
    record.id = {id.high, id.low};
    record.tenant = static_cast<std::uint32_t>(rng_.below(5));
    e.id = id;
    e.at = now_;
    e.usage = Usage(Tokens{rng_.between(1, 100'000)}, Tokens{0}, Tokens{rng_.between(1, 4000)});
  }
  if (other) e.h1 = Tokens{rng_.between(1, 1'000'000)};
  record.event = e;
  const std::string bytes = *event::encode(record);
  const event::Key key = event::key_of(record);
  const auto worker = static_cast<std::uint32_t>(rng_.below(options_.workers));
  offered_[key].insert(bytes);  // before: what is half written may survive as well
  const std::uint64_t position = store_->spool(worker).offer(key, bytes);
  if (position == 0) return;  // no room: the client is told so
  if (!again) keys_.push_back(key);
  in_memory_.insert(key);
  in_flight_[{worker, position}] = {key, bytes};
}

void Machine::step() {
  now_ += Duration{static_cast<std::int64_t>(rng_.below(4'000'000))};
  const Result<bool> done = store_->step(now_);
  if (!done) throw Error(done.error());
}

void Machine::work(std::uint64_t events) {
  for (std::uint64_t i = 0; i < events; ++i) {
    offer();
    if (rng_.chance(0.5)) step();
  }
  for (int i = 0; i < 4; ++i) step();
}

void Machine::live(std::uint64_t events, const Fault& fault, const Fault& boot_fault) {
  boot(boot_fault);
  arm(fault);
  try {
    work(events);
    if (fault.kind == Fault::Kind::none) {
      if (Result<void> done = store_->close(now_); !done) throw Error(done.error());
    }
  } catch (const spine::PowerCut&) {
  } catch (const std::bad_alloc&) {
  } catch (const Error& error) {
    // A log that opens on a full disk stays closed to events, also when there is room again.
    using Kind = Fault::Kind;
    const bool full_at_boot = boot_fault.kind == Kind::full || boot_fault.kind == Kind::full_once;
    const bool harmless = fault.kind == Kind::none || fault.kind == Kind::kill || fault.kind == Kind::power;
    if (harmless && !full_at_boot) throw Broken{"an error without a fault: " + error.what()};
  }
  operations = disk_.operations();
  syncs = disk_.syncs();
  allocated = allocations();
  end(fault);
  if (fault.kind == Fault::Kind::none && rng_.chance(0.3)) prune_some();
}

void Machine::prune_some() {
  const auto names = disk_.list();
  std::uint32_t last = 0;
  for (const std::string& name : *names) last = std::max(last, spine::segment_number(name).value_or(0));
  const Result<spine::Pruned> before = spine::pruned_of(disk_);
  if (!before || last < before->segments + 3) return;
  const Result<spine::Pruned> pruned = spine::prune(disk_, before->segments + 1);
  if (!pruned) throw Broken{"pruning: " + pruned.error().what()};
}

void Machine::judge() {
  boot({});
  spine::ReadOptions options;
  options.key = options_.log.signer->public_key();
  std::map<event::Key, int> seen;
  std::map<event::Key, std::set<std::string>> kept;
  std::map<std::uint64_t, std::string> by_sequence;
  digest_ = 0;
  const Result<spine::LogSummary> read = spine::read_log(disk_, options, [&](const spine::Frame& f) -> Result<void> {
    digest_ = mix(digest_, hash_of(f.bytes));
    if (f.type == spine::RecordType::checkpoint) return {};
    const Result<event::Record> record = event::decode(f.payload);
    if (!record) return Error(record.error());
    const event::Key key = event::key_of(*record);
    const bool own = key.kind == event::Kind::lifecycle || key.kind == event::Kind::gap;
    if (!own && !(offered_.contains(key) && offered_[key].contains(std::string(f.payload))))
      throw Broken{fmt::format("record {} is an event that nobody offered", f.sequence)};
    if (f.type == spine::RecordType::event) {
      if (++seen[key] > 1) throw Broken{fmt::format("record {} is there twice", f.sequence)};
      by_sequence[f.sequence] = f.payload;
    } else {
      kept[key].insert(std::string(f.payload));
    }
    return {};
  });
  if (!read) throw Broken{"the log does not verify: " + read.error().what()};
  if (read->torn) throw Broken{"an opened log has a torn tail: " + read->torn->what()};
  pruned_to_ = read->first;
  for (const auto& [sequence, bytes] : created_) {
    if (sequence < pruned_to_) continue;
    const auto found = by_sequence.find(sequence);
    if (found == by_sequence.end()) throw Broken{fmt::format("acknowledged record {} is lost", sequence)};
    if (found->second != bytes) throw Broken{fmt::format("acknowledged record {} is another one", sequence)};
  }
  if (pruned_to_ == 0) {
    for (const auto& [key, contents] : conflicts_)
      for (const std::string& bytes : contents)
        if (!kept[key].contains(bytes)) throw Broken{"an acknowledged conflict is lost"};
    if (must_keep_all_)
      for (const event::Key& key : in_memory_)
        if (!seen.contains(key)) throw Broken{"a killed process lost an event that its spool had taken"};
  }
  in_memory_.clear();
  must_keep_all_ = true;
  store_.reset();
  in_flight_.clear();
  disk_.restart(MemoryDisk::Loss::none, rng_);
}

}  // namespace ace::sim
