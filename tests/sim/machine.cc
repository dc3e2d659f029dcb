#include "machine.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/hash.h"

namespace ace::sim {

using spine::Appended;
using spine::MemoryDisk;

Machine::Machine(std::uint64_t seed, const spine::Signer& signer)
    : rng_(seed, "machine"), now_(instant(1'800'000'000'000'000'000)) {
  // As small as they may be, so that 200 events fill several.
  options_.log.segment_bytes = 4 * spine::kSealMax;
  options_.log.reserve_bytes = 2 * spine::kSealMax;
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
  disk_.tear_after(fault.sectors);
  disk_.cut_power_at(fault.kind == Kind::power ? fault.at : ~std::uint64_t{0});
  if (fault.kind == Kind::input_output) disk_.fail_at(fault.at, false, false);
  if (fault.kind == Kind::full || fault.kind == Kind::full_once)
    disk_.fail_at(fault.at, true, fault.kind == Kind::full);
  disk_.fail_sync_at(fault.kind == Kind::sync ? fault.at : ~std::uint64_t{0});
  fail_allocation(fault.kind == Kind::allocation ? fault.at + 1 : 0);
}

/// A fault strikes what the log does while this lives, and nothing of the harness: not what it notes afterwards either.
class Machine::Armed {
 public:
  Armed(Machine& machine, const Fault& fault) : machine_(machine) { machine_.arm(fault); }
  ~Armed() {
    machine_.allocated = allocations();
    fail_allocation(0);
  }
  Armed(const Armed&) = delete;
  Armed& operator=(const Armed&) = delete;

 private:
  Machine& machine_;
};

void Machine::end(const Fault& fault) {
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
    ++happened[std::string(name_of(appended.outcome))];
    if (appended.outcome == Appended::Outcome::created) created_[appended.sequence] = offered.bytes;
    using Outcome = Appended::Outcome;
    declared_ = declared_ || (offered.key.kind == event::Kind::fleet_changed &&
                              (appended.outcome == Outcome::created || appended.outcome == Outcome::exists));
    if (appended.outcome == Appended::Outcome::conflict) conflicts_[offered.key].insert(offered.bytes);
    in_flight_.erase(found);
  };
}

/// Boots with one fault after the other; whatever that does, boots at last without.
void Machine::boot(const std::vector<Fault>& faults) {
  for (std::size_t attempt = 0; attempt <= faults.size(); ++attempt) {
    const Fault now = attempt < faults.size() ? faults[attempt] : Fault{};
    try {
      {
        const Armed armed(*this, now);
        open();
      }
      boot_operations = disk_.operations();
      disk_.heal();
      if (store_->recovery().bytes_cut > 0) ++happened["a torn tail was cut"];
      if (attempt + 1 >= faults.size()) return;
      end({Fault::Kind::kill, 0, MemoryDisk::Loss::none});  // it did not strike: the next one may
    } catch (const spine::PowerCut&) {
      ++happened[fmt::format("power went during recovery {}", attempt + 1)];
      end(now);
    } catch (const std::bad_alloc&) {
      ++happened["no memory during recovery"];
      end(now);
    } catch (const Error& error) {
      if (now.kind == Fault::Kind::none) throw Broken{"the log does not open again: " + error.what()};
      ++happened["an error during recovery"];
      end(now);
    }
  }
}

void Machine::offer() {
  const Unharmed harness;  // a worker that finds no memory has offered nothing
  const bool again = !keys_.empty() && rng_.chance(0.15);
  const bool other = again && rng_.chance(0.4);
  event::Record record =
      again ? *event::decode(*offered_[keys_[rng_.below(keys_.size())]].begin()) : requests_.next(now_, rng_);
  if (other) {  // the same key with another content
    const Tokens changed{rng_.between(1, 1'000'000)};
    if (auto* end = std::get_if<event::Completed>(&record.event)) end->h1 = changed;
    if (auto* decided = std::get_if<event::Decided>(&record.event)) decided->cached_predicted = changed;
  }
  if (!again) keys_.push_back(event::key_of(record));
  offer(record);
}

void Machine::offer(const event::Record& record) {
  const std::string bytes = *event::encode(record);
  const event::Key key = event::key_of(record);
  const auto worker = static_cast<std::uint32_t>(rng_.below(options_.workers));
  offered_[key].insert(bytes);  // before: what is half written may survive as well
  const std::uint64_t position = store_->spool(worker).offer(key, bytes);
  if (position == 0) return;  // no room: the client is told so
  in_memory_.insert(key);
  in_flight_[{worker, position}] = {key, bytes};
}

void Machine::step() {
  now_ += Duration{static_cast<std::int64_t>(rng_.below(4'000'000))};
  const Result<bool> done = store_->step(now_);
  if (!done) throw Error(done.error());
}

/// A fleet is durable before anything is done under it.
void Machine::declare() {
  for (int tries = 0; !declared_ && tries < 20; ++tries) {
    if (in_flight_.empty()) {
      const Unharmed harness;
      offer(books_.fleet());
    }
    step();
  }
}

void Machine::work(std::uint64_t events) {
  declare();
  if (!declared_) return;  // the disk is full
  for (std::uint64_t i = 0; i < events; ++i) {
    offer();
    if (rng_.chance(0.5)) step();
  }
  for (int i = 0; i < 4; ++i) step();
}

void Machine::live(std::uint64_t events, const Fault& fault, const std::vector<Fault>& boot_faults) {
  boot(boot_faults);
  try {
    const Armed armed(*this, fault);
    work(events);
    if (fault.kind == Fault::Kind::none) {
      if (Result<void> done = store_->close(now_); !done) throw Error(done.error());
    }
  } catch (const spine::PowerCut&) {
    ++happened["power went"];
  } catch (const std::bad_alloc&) {
    ++happened["no memory"];
  } catch (const Error& error) {
    ++happened["an error of the disk"];
    // A log that opens on a full disk stays closed to events, also when there is room again.
    using Kind = Fault::Kind;
    const bool full_at_boot = std::any_of(boot_faults.begin(), boot_faults.end(), [](const Fault& f) {
      return f.kind == Kind::full || f.kind == Kind::full_once;
    });
    const bool harmless = fault.kind == Kind::none || fault.kind == Kind::kill || fault.kind == Kind::power;
    if (harmless && !full_at_boot) throw Broken{"an error without a fault: " + error.what()};
  }
  operations = disk_.operations();
  syncs = disk_.syncs();
  sectors = disk_.sectors();
  if (store_ != nullptr && store_->log().full()) ++happened["the disk was full"];
  end(fault);
  if (fault.kind == Fault::Kind::none && rng_.chance(0.3)) prune({});
}

void Machine::prune(const Fault& fault) {
  const auto names = disk_.list();
  std::uint32_t last = 0;
  for (const std::string& name : *names) last = std::max(last, spine::segment_number(name).value_or(0));
  const Result<spine::Pruned> before = spine::pruned_of(disk_);
  if (!before || last < before->segments + 3) return;
  try {
    const Result<spine::Pruned> pruned = [&] {
      const Armed armed(*this, fault);
      return spine::prune(disk_, before->segments + 1);
    }();
    if (!pruned && fault.kind == Fault::Kind::none) throw Broken{"pruning: " + pruned.error().what()};
    if (pruned) ++happened["a segment was pruned"];
  } catch (const spine::PowerCut&) {
    ++happened["power went while pruning"];
  } catch (const std::bad_alloc&) {
    ++happened["no memory while pruning"];
  }
  operations = disk_.operations();
  end(fault);
}

void Machine::judge() {
  boot({});
  spine::ReadOptions options;
  options.key = options_.log.signer->public_key();
  std::map<event::Key, int> seen;
  std::map<event::Key, std::set<std::string>> kept;
  std::map<std::uint64_t, std::string> by_sequence;
  Records events;
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
      events.emplace_back(f.sequence, *record);
    } else {
      kept[key].insert(std::string(f.payload));
    }
    return {};
  });
  if (!read) throw Broken{"the log does not verify: " + read.error().what()};
  if (read->torn) throw Broken{"an opened log has a torn tail: " + read->torn->what()};
  pruned_to_ = read->first;
  if (read->segments > 1) ++happened["a segment was sealed"];
  if (read->conflicts > 0) ++happened["a conflict was kept"];
  if (read->checkpoints > 0) ++happened["a checkpoint was signed"];
  for (const auto& [sequence, bytes] : created_) {
    if (sequence < pruned_to_) continue;
    const auto found = by_sequence.find(sequence);
    if (found == by_sequence.end()) throw Broken{fmt::format("acknowledged record {} is lost", sequence)};
    if (found->second != bytes) throw Broken{fmt::format("acknowledged record {} is another one", sequence)};
  }
  if (pruned_to_ == 0) {
    books_.judge(events, events.empty() ? 0 : digest_ % events.size());
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
