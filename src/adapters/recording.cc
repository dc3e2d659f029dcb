#include "adapters/recording.h"

#include <algorithm>
#include <thread>

namespace ace {
namespace {

using Role = event::FleetChanged::File::Role;

/// What a Masker made of a name that nobody declared.
bool is_mask(std::string_view name) { return name.size() == 12 && name.starts_with("t_"); }

bool same_files(const event::FleetChanged& recorded, const std::vector<FleetText>& files) {
  Sha256 sha;
  return std::equal(recorded.files.begin(), recorded.files.end(), files.begin(), files.end(),
                    [&](const event::FleetChanged::File& then, const FleetText& now) {
                      return then.role == now.role && then.sha256 == sha({now.text});
                    });
}

bool is_same(const event::FleetChanged& recorded, const std::vector<FleetText>& files, std::uint64_t digest,
             event::FleetChanged::Source source) {
  return recorded.digest == digest && recorded.source == source && same_files(recorded, files);
}

}  // namespace

Result<std::unique_ptr<Recording>> Recording::open(const std::string& directory, const spine::StoreOptions& options,
                                                   Clock& clock, Behind behind, const Listener& listener) {
  std::unique_ptr<Recording> recording(new Recording());
  recording->directory_ = directory;
  recording->behind_ = behind;
  Result<std::unique_ptr<SpineWriter>> writer = SpineWriter::open(directory, options, clock);
  if (!writer) return std::move(writer).error();
  recording->writer_ = *std::move(writer);
  // Nobody else writes while we own the directory, and what was recovered is sound.
  if (Result<void> flushed = recording->writer_->flush(); !flushed) return std::move(flushed).error();
  Result<std::unique_ptr<PosixDisk>> disk = PosixDisk::open(directory, PosixDisk::Access::read);
  if (!disk) return std::move(disk).error();
  const Result<spine::LogSummary> read = spine::read_log(**disk, {}, [&](const spine::Frame& frame) -> Result<void> {
    if (frame.type != spine::RecordType::event) return {};
    const Result<event::Key> key = event::key_from(frame.payload);
    if (!key) return Error(key.error());
    const bool told = key->kind == event::Kind::named || key->kind == event::Kind::fleet_changed;
    if (!told && !listener.wants(key->kind)) return {};
    const Result<event::Record> record = event::decode(frame.payload);
    if (!record) return Error(record.error());
    listener.hear(*record);
    if (const auto* changed = std::get_if<event::FleetChanged>(&record->event))
      recording->fleets_.insert_or_assign(record->snapshot, *changed);
    if (const auto* named = std::get_if<event::Named>(&record->event)) recording->symbols_.hear(*named);
    return {};
  });
  if (!read) return Error(read.error()).with("reading the spine " + directory);
  recording->writer_->on_settled(
      [self = recording.get()](std::uint32_t, std::uint64_t position, const spine::Appended& appended) {
        self->settle(position);
        using Outcome = spine::Appended::Outcome;
        const auto count = [&](Outcome outcome, std::atomic<std::uint64_t>& counter) {
          if (appended.outcome == outcome) counter.fetch_add(1, std::memory_order_relaxed);
        };
        count(Outcome::created, self->created_);
        count(Outcome::exists, self->exists_);
        count(Outcome::conflict, self->conflict_);
        count(Outcome::too_old, self->too_old_);
      });
  return recording;
}

Result<std::unique_ptr<Recording>> Recording::open(const std::string& directory, const spine::StoreOptions& options,
                                                   Clock& clock, Behind behind) {
  return open(directory, options, clock, behind, {[](event::Kind) { return false; }, [](const event::Record&) {}});
}

Result<std::unique_ptr<Recording>> Recording::open(const std::string& directory, const spine::StoreOptions& options,
                                                   Clock& clock, std::vector<FleetText> files, std::uint64_t digest,
                                                   event::FleetChanged::Source source) {
  std::optional<std::uint64_t> ours;  // the number of this very fleet, if it was in force before
  Resume resume;
  Listener listener;
  // A run is there already only behind the fleet that it is of.
  listener.wants = [&](event::Kind kind) {
    return source == event::FleetChanged::Source::simulated && ours && Resume::concerns(kind);
  };
  listener.hear = [&](const event::Record& record) {
    if (ours) resume.hear(record, *ours);
    if (const auto* changed = std::get_if<event::FleetChanged>(&record.event))
      if (is_same(*changed, files, digest, source)) ours = record.snapshot;
  };
  Result<std::unique_ptr<Recording>> opened = open(directory, options, clock, Behind::wait, listener);
  if (!opened) return opened;
  Recording& recording = **opened;
  if (Result<void> kept = recording.keep(files); !kept) return std::move(kept).error();
  recording.known_ = ours.has_value();
  recording.number_ = ours ? *ours : recording.fleets_.empty() ? 1 : recording.fleets_.rbegin()->first + 1;
  recording.files_ = std::move(files);
  recording.source_ = source;
  recording.resume_ = std::move(resume);
  return opened;
}

Result<void> Recording::keep(const std::vector<FleetText>& files) const { return FleetFiles(directory_).keep(files); }

std::optional<std::uint64_t> Recording::recorded_as(const std::vector<FleetText>& files, std::uint64_t digest,
                                                    event::FleetChanged::Source source) const {
  std::optional<std::uint64_t> number;
  for (const auto& [recorded, changed] : fleets_)
    if (is_same(changed, files, digest, source)) number = recorded;
  return number;
}

Result<std::uint64_t> Recording::declare(const Snapshot& fleet, const std::vector<FleetText>& files,
                                         event::FleetChanged::Source source, Instant at, bool anew) {
  if (!anew)
    if (const auto known = recorded_as(files, fleet.fleet().digest, source)) return *known;
  const std::uint64_t number = fleets_.empty() ? 1 : fleets_.rbegin()->first + 1;
  if (const std::string wrong = names_not_kept(fleet.fleet()); !wrong.empty()) return Error(Errc::bad_input, wrong);
  const event::Record record = fleet_changed(fleet, number, files, source, at);
  if (Result<void> said = append(record); !said) return std::move(said).error();
  fleets_.emplace(number, std::get<event::FleetChanged>(record.event));
  return number;
}

Result<std::uint32_t> Recording::symbol(event::Named::Kind kind, std::string_view name, Instant at) {
  const std::uint32_t number =
      symbols_.symbol(kind, name, at, [&](event::Record named) { unsaid_.push_back(std::move(named)); });
  while (!unsaid_.empty()) {
    if (Result<void> said = append(unsaid_.front()); !said) return std::move(said).error();
    unsaid_.pop_front();
  }
  return number;
}

void Recording::names(const Tables& tables, bool stable) {
  using Kind = event::Named::Kind;
  tenants_ = {Kind::tenant, &tables.tenants};
  teams_ = {Kind::team, &tables.teams};
  projects_ = {Kind::project, &tables.projects};
  keys_ = {Kind::key, &tables.keys};
  stable_ = stable;
}

/// Did the fleet file declare this name, so that it is the same without a key?
bool Recording::declared(event::Named::Kind kind, const std::string& name) const {
  const Fleet& fleet = fleet_->fleet();
  const auto has = [&](const std::vector<std::string>& names) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  switch (kind) {
    case event::Named::Kind::tenant:
      return fleet.tenant(name).has_value();
    case event::Named::Kind::team:
      return std::any_of(fleet.tenants.begin(), fleet.tenants.end(), [&](const Tenant& t) { return has(t.teams); });
    case event::Named::Kind::project:
      return std::any_of(fleet.tenants.begin(), fleet.tenants.end(), [&](const Tenant& t) { return has(t.projects); });
    default:
      return false;
  }
}

Result<std::uint32_t> Recording::symbol(Table& table, std::uint32_t of_source, Instant at) {
  std::vector<std::optional<std::uint32_t>>& known = table.symbols;
  if (known.size() <= of_source) known.resize(of_source + 1);
  if (!known[of_source]) {
    const std::string& name = (*table.names)[of_source];
    if (!stable_ && is_mask(name) && !declared(table.kind, name))
      return Error(
          Errc::bad_input,
          "the log names a " + std::string(name_of(table.kind)) +
              " that the fleet file does not declare, so it is masked, with a key that is random for this run: "
              "on a spine the same name must have the same mask every time; give the key with --salt-file FILE "
              "(openssl rand -hex 32 > FILE), or declare the name");
    const Result<std::uint32_t> number = symbol(table.kind, name, at);
    if (!number) return number;
    known[of_source] = *number;
  }
  return *known[of_source];
}

Result<void> Recording::operator()(event::Record record) {
  const Instant at = at_of(record.event);
  if (!known_) {
    known_ = true;
    if (const std::string wrong = names_not_kept(fleet_->fleet()); !wrong.empty()) return Error(Errc::bad_input, wrong);
    if (Result<void> said = append(fleet_changed(*fleet_, number_, files_, source_, at)); !said) return said;
  }
  if (own_id(record.event) != event::EventId{}) {  // of a request
    const Result<std::uint32_t> tenant = symbol(tenants_, record.tenant, at);
    if (!tenant) return Error(tenant.error());
    record.tenant = *tenant;
    if (auto* const admitted = std::get_if<event::Admitted>(&record.event)) {
      admitted->tenant = *tenant;
      for (const auto& [table, symbol_at] :
           {std::pair{&teams_, &admitted->team}, std::pair{&projects_, &admitted->project},
            std::pair{&keys_, &admitted->key}}) {
        const Result<std::uint32_t> on_spine = symbol(*table, *symbol_at, at);
        if (!on_spine) return Error(on_spine.error());
        *symbol_at = *on_spine;
      }
    }
  }
  for (const event::Record& said : resume_.before(record))
    if (Result<void> done = append(said); !done) return done;
  return append(record);
}

Result<void> Recording::append(const event::Record& record) {
  const Result<std::string> bytes = event::encode(record);
  if (!bytes) return Error(bytes.error());
  const event::Key key = event::key_of(record);
  while (true) {
    const Result<std::uint64_t> position = writer_->append(0, key, *bytes);
    if (position) {
      position_ = *position;
      return {};
    }
    if (behind_ == Behind::refuse) return Error(position.error());
    if (const spine::Health health = writer_->health(); !health.failure.empty() || health.full)
      return Error(position.error());
    std::this_thread::sleep_for(std::chrono::microseconds{200});  // the writer is behind
  }
}

void Recording::when_settled(std::uint64_t position, std::function<void()> then) {
  {
    const std::lock_guard lock(waiting_mutex_);
    if (position > settled_) {
      waiting_.emplace(position, std::move(then));
      return;
    }
  }
  then();
}

/// Positions of the one spool that is written to rise, and are settled in that order.
void Recording::settle(std::uint64_t position) {
  std::vector<std::function<void()>> due;
  {
    const std::lock_guard lock(waiting_mutex_);
    settled_ = std::max(settled_, position);
    const auto end = waiting_.upper_bound(settled_);
    for (auto it = waiting_.begin(); it != end; ++it) due.push_back(std::move(it->second));
    waiting_.erase(waiting_.begin(), end);
  }
  for (const auto& then : due) then();
}

Result<Recording::Counts> Recording::close() {
  if (Result<void> closed = writer_->close(); !closed) return std::move(closed).error();
  return Counts{created_, exists_, conflict_, too_old_};
}

}  // namespace ace
