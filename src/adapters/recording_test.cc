#include "adapters/recording.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace ace {
namespace {

namespace fs = std::filesystem;
using Role = event::FleetChanged::File::Role;

constexpr const char* kYaml = R"(version: 1
providers: {api: {jurisdictions: [eu]}, own: {jurisdictions: [eu]}}
prices: list.json
electricity: {price: "0.12 USD/kWh", pue: 1.3}
models: {m: {context: 131072, baseline: {destination: paid, price_key: m, as_of: 2026-11-01}}}
slo_classes: {chat: {ttft: 800ms}}
tenants: {acme: {slo: chat}}
destinations:
  - {id: paid, tier: payg, provider: api, models: [m], price_key: m, region: "${ACE_TEST_REGION}", tpm: 100000}
)";
constexpr const char* kPrices =
    R"({"m": {"input_cost_per_token": 1e-6, "output_cost_per_token": 3e-6, "litellm_provider": "x", "mode": "chat"}})";

class StoppedClock : public Clock {
 public:
  Instant now() override { return instant(1'800'000'000'000'000'000); }
};

/// A directory that goes with the test, and a fleet with what it reads.
struct World {
  fs::path folder = fs::temp_directory_path() / ("ace_recording_test_" + std::to_string(::getpid()));
  StoppedClock clock;
  std::vector<FleetText> files;
  std::unique_ptr<Fleet> fleet;
  std::unique_ptr<Snapshot> snapshot;
  Interner tenants, teams, projects, keys;

  World() {
    fs::remove_all(folder);
    ::setenv("ACE_TEST_REGION", "eu-west", 1);
    compile(kYaml);
    tenants("acme");
    for (Interner* names : {&teams, &projects, &keys}) (*names)("");
  }
  ~World() { fs::remove_all(folder); }
  void compile(const std::string& yaml) {
    files = {{Role::fleet, "some/where/the fleet.yaml", yaml}};
    const ReadText read = [&](const std::string& path) -> Result<std::string> {
      if (path != "list.json") return Error(Errc::not_found, "no " + path);
      files.push_back({Role::series, path, kPrices});
      return std::string(kPrices);
    };
    const FleetText first = files.front();
    Result<FleetReading> reading = compile_fleet(first, nullptr, read, environment);
    ASSERT_TRUE(reading) << reading.error().what();
    fleet = std::make_unique<Fleet>(std::move(reading->fleet));
    snapshot = std::make_unique<Snapshot>(*fleet);
  }
  std::unique_ptr<Recording> open(bool stable = true) {
    auto recording =
        Recording::open(folder.string(), {}, clock, files, fleet->digest, event::FleetChanged::Source::simulated);
    EXPECT_TRUE(recording) << recording.error().what();
    fleet->number = (*recording)->number();
    (*recording)->in_force(*snapshot);
    (*recording)->names({tenants, teams, projects, keys}, stable);
    return *std::move(recording);
  }
  [[nodiscard]] event::Record admitted(std::uint64_t n, std::int64_t prompt = 100) const {
    event::Admitted a;
    a.id = {std::uint64_t{1'800'000'000'000} << 16, n};
    a.at = instant(1'800'000'000'000'000'000);
    a.requested = ModelId{0};
    a.prompt = Tokens{prompt};
    event::Record record;
    record.id = {a.id.high, a.id.low};
    record.snapshot = fleet->number;
    record.event = a;
    return record;
  }
  Recording::Counts record(std::vector<event::Record> records) {
    const auto recording = open();
    for (event::Record& r : records) EXPECT_TRUE((*recording)(std::move(r)));
    return *recording->close();
  }
  std::vector<event::Record> read(Snapshots& snapshots) const {
    std::vector<event::Record> all;
    const auto disk = *PosixDisk::open(folder, PosixDisk::Access::read);
    EXPECT_TRUE(spine::read_log(*disk, {}, [&](const spine::Frame& frame) -> Result<void> {
      if (frame.type != spine::RecordType::event) return {};
      all.push_back(*event::decode(frame.payload));
      snapshots.hear(all.back());
      return {};
    }));
    return all;
  }
};

TEST(Recording, begins_with_the_fleet_and_names_whom_it_speaks_of) {
  World w;
  w.record({w.admitted(1)});
  Snapshots snapshots(w.folder);
  std::vector<event::Kind> kinds;
  for (const event::Record& r : w.read(snapshots))
    if (const event::Kind kind = event::kind_of(r.event); kind != event::Kind::lifecycle) kinds.push_back(kind);
  EXPECT_EQ(kinds, (std::vector{event::Kind::fleet_changed, event::Kind::named, event::Kind::admitted}));
}

TEST(Recording, compiles_to_the_very_fleet_again_from_its_directory) {
  World w;
  w.record({w.admitted(1)});
  Snapshots snapshots(w.folder);
  w.read(snapshots);
  const Result<const Snapshot*> again = snapshots.at(1);
  ASSERT_TRUE(again) << again.error().what();
  EXPECT_EQ((*again)->fleet(), *w.fleet);
  EXPECT_EQ(snapshots.at(1).value(), *again) << "compiled once";
}

TEST(Recording, keeps_variables_of_the_environment_as_they_are_written) {
  World w;
  w.record({w.admitted(1)});
  for (const auto& file : fs::directory_iterator(w.folder / "files")) {
    std::ifstream in(file.path());
    const std::string text((std::istreambuf_iterator<char>(in)), {});
    EXPECT_EQ(text.find("eu-west"), std::string::npos);
  }
  Snapshots snapshots(w.folder);
  w.read(snapshots);
  ::unsetenv("ACE_TEST_REGION");
  const Result<const Snapshot*> again = snapshots.at(1);
  ASSERT_FALSE(again);
  EXPECT_NE(again.error().what().find("ACE_TEST_REGION"), std::string::npos) << again.error().what();
}

TEST(Recording, of_the_same_again_adds_nothing) {
  World w;
  EXPECT_EQ(w.record({w.admitted(1), w.admitted(2)}).created, 4U);  // and the fleet, and the name
  const Recording::Counts again = w.record({w.admitted(1), w.admitted(2)});
  EXPECT_EQ(again.created, 0U);
  EXPECT_EQ(again.exists, 2U);
  EXPECT_EQ(w.record({w.admitted(1, 999)}).conflict, 1U);
}

/// A reader forgets the world where a writer starts, and the events that would tell it are in the log before that.
TEST(Recording, that_goes_on_after_it_was_cut_off_says_anew_what_had_moved) {
  World w;
  const auto of = [&](std::uint64_t n, event::Event event) {
    event::Record record = w.admitted(n);
    record.event = std::move(event);
    return record;
  };
  const auto decided = [&](std::uint64_t n) {
    event::Decided d;
    d.id = {w.admitted(n).id.high, n};
    d.at = instant(1'800'000'000'000'000'000);
    d.decision.verdict = Verdict::no_capacity;
    return of(n, d);
  };
  const Instant at = instant(1'800'000'000'000'000'000);
  const auto knee = [&](std::uint64_t n, double after) {
    return of(n, event::Changed{{Belief::Change::What::knee, at, OfferId{0}, SloId{0}, 1.0, after}});
  };
  const auto units = [&](std::uint64_t n, std::int64_t before, std::int64_t after) {
    return of(n, event::UnitsChanged{at, DestinationId{0}, before, after, "reactive"});
  };
  const auto all = [&] {
    return std::vector{knee(11, 0.9),   units(12, 0, 1), w.admitted(1), decided(1),    knee(13, 0.8),
                       w.admitted(2),   decided(2),      knee(14, 0.7), w.admitted(3), decided(3),
                       units(15, 1, 2), w.admitted(4),   decided(4)};
  };
  {
    const auto number = w.open()->number();
    w.fleet->number = number;
  }
  std::vector<event::Record> first = all();
  first.resize(8);  // cut off behind a move that no decision followed
  w.record(first);
  w.record(all());
  w.record(all());  // and the whole again adds nothing
  Snapshots snapshots(w.folder);
  std::vector<std::string> kinds;
  std::vector<double> knees;
  for (const event::Record& r : w.read(snapshots)) {
    if (const auto* c = std::get_if<event::Changed>(&r.event)) knees.push_back(c->change.after);
    if (const auto* u = std::get_if<event::UnitsChanged>(&r.event))
      kinds.push_back(std::to_string(u->before) + std::to_string(u->after));
    if (std::holds_alternative<event::Decided>(r.event)) kinds.emplace_back("d");
  }
  EXPECT_EQ(knees, (std::vector{0.9, 0.8, 0.7, 0.7})) << "the last word of each, once";
  EXPECT_EQ(kinds, (std::vector<std::string>{"01", "d", "d", "11", "d", "12", "d"}));
}

TEST(Recording, of_another_fleet_has_the_next_number_and_the_same_names) {
  World w;
  w.record({w.admitted(1)});
  w.compile(std::string(kYaml) + "# another\n");
  const Recording::Counts second = w.record({w.admitted(2)});
  EXPECT_EQ(second.created, 2U);  // the fleet and the request
  Snapshots snapshots(w.folder);
  w.read(snapshots);
  EXPECT_EQ(snapshots.latest(), 2U);
  w.compile(kYaml);
  EXPECT_EQ(w.open()->number(), 1U) << "it is known";
  EXPECT_TRUE(snapshots.at(1));
  EXPECT_TRUE(snapshots.at(2));
}

TEST(Recording, refuses_a_name_whose_mask_would_be_another_next_time) {
  World w;
  w.tenants = {};
  w.tenants("t_abcdefghij");
  const auto recording = w.open(false);
  const Result<void> refused = (*recording)(w.admitted(1));
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().what().find("--salt-file"), std::string::npos);
}

TEST(Recording, says_what_a_request_was_for_and_under_which_key) {
  World w;
  w.teams("search");
  w.projects("t_projectone");
  w.keys("t_abcdefghij");
  event::Record record = w.admitted(1);
  auto& admitted = std::get<event::Admitted>(record.event);
  admitted.team = admitted.project = admitted.key = 1;
  w.record({record, w.admitted(2)});
  Snapshots snapshots(w.folder);
  event::Symbols symbols;
  std::vector<std::string> said;
  for (const event::Record& r : w.read(snapshots)) {
    if (const auto* named = std::get_if<event::Named>(&r.event)) symbols.hear(*named);
    if (const auto* a = std::get_if<event::Admitted>(&r.event))
      for (const std::uint32_t symbol : {a->team, a->project, a->key}) said.emplace_back(symbols.name(symbol));
  }
  EXPECT_EQ(said, (std::vector<std::string>{"search", "t_projectone", "t_abcdefghij", "", "", ""}));
  World random;
  random.keys("t_abcdefghij");
  admitted.team = admitted.project = 0;
  const auto recording = random.open(false);
  const Result<void> refused = (*recording)(record);
  ASSERT_FALSE(refused) << "its mask would be another next time";
  EXPECT_NE(refused.error().what().find("names a key"), std::string::npos) << refused.error().what();
}

TEST(Recording, whose_files_are_gone_or_changed_says_which) {
  World w;
  w.record({w.admitted(1)});
  std::vector<fs::path> paths;
  for (const auto& file : fs::directory_iterator(w.folder / "files")) paths.push_back(file.path());
  ASSERT_EQ(paths.size(), 2U);
  for (const fs::path& path : paths) {
    Snapshots snapshots(w.folder);
    w.read(snapshots);
    std::ofstream(path, std::ios::app) << " ";
    EXPECT_EQ(snapshots.at(1).error().code(), Errc::corrupt);
    fs::remove(path);
    const Result<const Snapshot*> missing = snapshots.at(1);
    EXPECT_EQ(missing.error().code(), Errc::not_found);
    EXPECT_NE(missing.error().what().find(path.filename()), std::string::npos) << missing.error().what();
    w.record({w.admitted(1)});  // keeps what is not there
    EXPECT_TRUE(snapshots.at(1));
  }
  Snapshots none(w.folder);
  EXPECT_NE(none.at(7).error().what().find("snapshot 7"), std::string::npos);
}

}  // namespace
}  // namespace ace
