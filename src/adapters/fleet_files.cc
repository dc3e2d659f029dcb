#include "adapters/fleet_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "adapters/durable_file.h"
#include "adapters/log_view.h"
#include "adapters/posix_disk.h"
#include "core/text.h"

namespace ace {
namespace {

using Role = event::FleetChanged::File::Role;

std::string label_of_path(const std::string& path) {
  return event::label_of(std::filesystem::path(path).filename().string());
}

event::Digest digest_of(std::string_view text) {
  Sha256 sha;
  return sha({text});
}

template <class Named>
std::vector<std::string> labels_of(const std::vector<Named>& named) {
  std::vector<std::string> labels;
  for (const Named& one : named) labels.push_back(event::label_of(one.name));
  return labels;
}

}  // namespace

std::optional<std::string> environment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  if (value == nullptr) return std::nullopt;
  return std::string(value);
}

Result<FleetReading> compile_fleet(const FleetText& fleet, const FleetText* prices, const ReadText& read,
                                   const ReadEnv& env) {
  PriceBook book;
  std::vector<std::string> warnings;
  if (prices != nullptr) {
    Result<PriceReading> reading = parse_prices(prices->text, PriceDialect::community);
    if (!reading) return std::move(reading).error().with("loading the price map " + prices->name);
    book = std::move(reading->book);
    for (const PriceFinding& f : reading->findings)
      if (f.error)
        warnings.push_back(prices->name + ": " + f.row + ": " + f.field + ": " + f.what + " (the row stays unpriced)");
  }
  FleetReading reading = parse_fleet(fleet.text, fleet.name, book, read, env);
  reading.warnings.insert(reading.warnings.begin(), warnings.begin(), warnings.end());
  if (!reading.mistakes.empty()) return Error(Errc::bad_input, describe(reading.mistakes));
  return reading;
}

std::string names_not_kept(const Fleet& fleet) {
  std::string wrong;
  const auto look = [&](std::string_view what, const std::string& name) {
    if (!event::is_kept(name))
      wrong += fmt::format(
          "{} \"{}\": on a spine this name would be hidden, since it begins like a secret key, or cut, since it has "
          "more than {} letters (others than A-Z a-z 0-9 . _ : / + - [ ] count three times): choose another\n",
          what, name, event::kLabelMax);
  };
  for (const Destination& d : fleet.destinations) look("destination", d.name);
  for (const Model& m : fleet.models) look("model", m.name);
  for (const SloClass& s : fleet.slo_classes) look("SLO class", s.name);
  for (const Compliance& c : fleet.compliance) look("compliance class", c.name);
  for (const Tenant& t : fleet.tenants) {
    look("tenant", t.name);
    for (const std::string& team : t.teams) look("team", team);
    for (const std::string& project : t.projects) look("project", project);
  }
  return wrong;
}

event::Record fleet_changed(const Snapshot& snapshot, std::uint64_t number, const std::vector<FleetText>& files,
                            event::FleetChanged::Source source, Instant at) {
  const Fleet& fleet = snapshot.fleet();
  event::FleetChanged changed;
  changed.source = source;
  changed.at = at;
  std::string digests;
  for (const FleetText& file : files) {
    changed.files.push_back({file.role, label_of_path(file.name), digest_of(file.text)});
    digests += view(changed.files.back().sha256);
  }
  changed.destinations = labels_of(fleet.destinations);
  changed.models = labels_of(fleet.models);
  changed.tenants = labels_of(fleet.tenants);
  changed.slo_classes = labels_of(fleet.slo_classes);
  changed.compliance = labels_of(fleet.compliance);
  for (const Offer& offer : snapshot.offers()) changed.offers.push_back({offer.destination, offer.model});
  changed.digest = fleet.digest;
  event::Record record;
  record.id = event::id_from(at, fmt::format("fleet {} {}", number, digests));
  record.snapshot = number;
  record.event = std::move(changed);
  return record;
}

Result<void> FleetFiles::keep(const std::vector<FleetText>& files) const {
  std::error_code failure;
  std::filesystem::create_directories(folder_, failure);
  if (failure) return Error(Errc::unavailable, "making " + folder_ + ": " + failure.message());
  std::filesystem::permissions(folder_, std::filesystem::perms::owner_all, failure);
  for (const FleetText& file : files) {
    const event::Digest digest = digest_of(file.text);
    const event::FleetChanged::File as{file.role, label_of_path(file.name), digest};
    if (read(as)) continue;
    if (Result<void> done = write_durably(folder_ + "/" + to_hex(view(digest)), file.text); !done) return done;
  }
  return {};
}

Result<void> FleetFiles::copy(const FleetFiles& to) const {
  std::error_code failure;
  if (!std::filesystem::is_directory(folder_, failure)) return {};  // no fleet was recorded
  std::vector<FleetText> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder_, failure)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(".tmp")) continue;
    std::ifstream in(entry.path(), std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    if (!in || to_hex(view(digest_of(text.view()))) != name)
      return Error(Errc::corrupt, entry.path().string() + " is no longer what was recorded: its SHA-256 is another");
    files.push_back({Role::fleet, name, std::move(text).str()});
  }
  return failure ? Error(Errc::unavailable, "listing " + folder_ + ": " + failure.message()) : to.keep(files);
}

Result<std::string> FleetFiles::read(const event::FleetChanged::File& file) const {
  const std::string hex = to_hex(view(file.sha256));
  const std::string path = folder_ + "/" + hex;
  std::ifstream in(path, std::ios::binary);
  if (!in)
    return Error(Errc::not_found, fmt::format("{} is missing: it was \"{}\" when it was recorded; put a copy of it "
                                              "there (`sha256sum` tells whether it is the same)",
                                              path, file.name));
  std::ostringstream text;
  text << in.rdbuf();
  if (digest_of(text.view()) != file.sha256)
    return Error(Errc::corrupt,
                 fmt::format("{} (\"{}\") is no longer what was recorded: its SHA-256 is another", path, file.name));
  return std::move(text).str();
}

void Snapshots::hear(const event::Record& record) {
  if (const auto* changed = std::get_if<event::FleetChanged>(&record.event))
    recorded_.insert_or_assign(record.snapshot, *changed);
}

Result<std::unique_ptr<Snapshots>> Snapshots::read(const std::string& directory, const std::string& archive) {
  const Result<std::unique_ptr<spine::Disk>> disk = LogView::whole(directory, archive);
  if (!disk) return Error(disk.error());
  auto snapshots = std::make_unique<Snapshots>(directory);
  const Result<spine::LogSummary> log = spine::read_log(**disk, {}, [&](const spine::Frame& frame) -> Result<void> {
    if (frame.type != spine::RecordType::event) return {};
    const Result<event::Key> key = event::key_from(frame.payload);
    if (!key || key->kind != event::Kind::fleet_changed) return key ? Result<void>() : Result<void>(key.error());
    const Result<event::Record> record = event::decode(frame.payload);
    if (!record) return Error(record.error());
    snapshots->hear(*record);
    return {};
  });
  if (!log) return Error(log.error()).with("reading the spine " + directory);
  return snapshots;
}

const event::FleetChanged* Snapshots::changed(std::uint64_t number) const {
  const auto found = recorded_.find(number);
  return found == recorded_.end() ? nullptr : &found->second;
}

Result<const Snapshot*> Snapshots::at(std::uint64_t number) {
  if (const auto made = compiled_.find(number); made != compiled_.end()) return &made->second->snapshot;
  const event::FleetChanged* const recorded = changed(number);
  if (recorded == nullptr)
    return Error(Errc::not_found, fmt::format("no fleet was recorded as snapshot {}: its fleet_changed event was "
                                              "pruned, or the log begins behind it",
                                              number));
  Result<std::unique_ptr<Compiled>> made = compile(number, *recorded);
  if (!made) return std::move(made).error().with(fmt::format("compiling snapshot {} again", number));
  return &compiled_.emplace(number, *std::move(made)).first->second->snapshot;
}

Result<std::unique_ptr<Snapshots::Compiled>> Snapshots::compile(std::uint64_t number,
                                                                const event::FleetChanged& changed) const {
  std::vector<FleetText> files;
  for (const event::FleetChanged::File& file : changed.files) {
    Result<std::string> text = files_.read(file);
    if (!text) return std::move(text).error();
    files.push_back({file.role, event::text_of(file.name), *std::move(text)});
  }
  if (files.empty() || files.front().role != Role::fleet) return Error(Errc::not_found, "its files were not recorded");
  const FleetText* const prices = files.size() > 1 && files[1].role == Role::prices ? &files[1] : nullptr;
  // It reads what it read then, in the same order.
  std::size_t next = prices != nullptr ? 2 : 1;
  const ReadText read = [&](const std::string& path) -> Result<std::string> {
    if (next >= files.size() || label_of_path(files[next].name) != label_of_path(path))
      return Error(Errc::not_found, "\"" + path + "\" was not read when the fleet was recorded");
    return files[next++].text;
  };
  // Keys are never needed here, and everything else that a variable says is in the digest.
  std::vector<std::string> lacking;
  const ReadEnv env = [&](const std::string& name) -> std::optional<std::string> {
    if (std::optional<std::string> value = environment(name); value && !value->empty()) return value;
    lacking.push_back(name);
    return "unset";
  };
  Result<FleetReading> reading = compile_fleet(files.front(), prices, read, env);
  const std::string unset = lacking.empty() ? "" : " (not set here: " + listed(lacking, 8) + ")";
  if (!reading) return std::move(reading).error().with("its fleet file" + unset);
  if (reading->fleet.digest != changed.digest)
    return Error(
        lacking.empty() ? Errc::corrupt : Errc::bad_input,
        "it compiles to another fleet: a variable of the environment that its fleet file refers to was another "
        "when it was recorded" +
            unset);
  reading->fleet.number = number;
  auto made = std::make_unique<Compiled>(std::move(reading->fleet));
  const event::Record again = fleet_changed(made->snapshot, number, files, changed.source, changed.at);
  if (std::get<event::FleetChanged>(again.event) != changed)
    return Error(Errc::corrupt, "the names or offers it compiles to are not those that were recorded");
  return made;
}

}  // namespace ace
