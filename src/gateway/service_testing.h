#pragma once
/// A whole gateway over simulated providers, on a spine in a folder of its own, and a client that speaks to it bluntly.
#include <unistd.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "adapters/ledger_view.h"
#include "core/check.h"
#include "gateway/service.h"
#include "net/server_testing.h"
#include "simulated/upstream.h"
#include "verify/verify.h"

namespace ace::gateway {

/// A response as it came, its head apart.
struct Got {
  int status = 0;
  std::string head, body;
  /// Of a field, or nothing. @param name as sent
  [[nodiscard]] std::string field(const std::string& name) const {
    const std::size_t at = head.find("\r\n" + name + ": ");
    if (at == std::string::npos) return {};
    const std::size_t begin = at + name.size() + 4;
    return head.substr(begin, head.find("\r\n", begin) - begin);
  }
};

inline Got parse_got(const std::string& bytes) {
  Got got;
  const std::size_t end = bytes.find("\r\n\r\n");
  if (end == std::string::npos) return got;
  got.head = bytes.substr(0, end);
  got.body = bytes.substr(end + 4);
  got.status = std::atoi(got.head.c_str() + 9);
  return got;
}

inline std::string post(const std::string& path, const std::string& body, const std::string& fields = {}) {
  return "POST " + path + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" + fields +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

/// Two destinations of one model: `cheap` at 1 and 2 USD/Mtok, `dear` at 10 and 20, which is also the baseline.
class Site {
 public:
  struct Wanted {
    simulated::Script cheap{}, dear{};
    std::string config{};                                      ///< further lines of ace.yaml
    std::string cheap_more{}, tenants = "{acme: {}}", more{};  ///< of the fleet file
    bool pool = false;  ///< GPUs at the provider of `cheap`, in the place of its API, with metrics
    std::string mode = "inline";
    std::string dear_price = R"(input: "10 USD/Mtok", output: "20 USD/Mtok")";
    std::string strict{};                                 ///< tenants whose answers wait for the spine
    Duration group_delay = std::chrono::milliseconds{5};  ///< of the spine
    std::string cheap_api = "openai";                     ///< and what else is said of its provider
  };
  Site() : Site(Wanted{}) {}
  explicit Site(Wanted wanted) : folder_(fresh_folder()), group_delay_(wanted.group_delay) {
    cheap = simulated::Upstream::start(wanted.cheap).value();
    dear = simulated::Upstream::start(wanted.dear).value();
    fleet_ = "version: 1\nproviders:\n  cheap: {jurisdictions: [us], api: " + wanted.cheap_api +
             ", url: \"http://127.0.0.1:" + std::to_string(cheap->port()) +
             "\"}\n  dear: {jurisdictions: [eu], api: openai, url: \"http://127.0.0.1:" + std::to_string(dear->port()) +
             "\"}\n" + R"(prices:
  - cheap/m: {input: "1 USD/Mtok", output: "2 USD/Mtok", source: "a test", as_of: 2026-11-01}
  - dear/m: {)" +
             wanted.dear_price + R"(, source: "a test", as_of: 2026-11-01}
models:
  m: {context: 100000, capabilities: [tools, json_schema], baseline: {destination: dear, price_key: dear/m, as_of: 2026-11-01, contracted: true}}
slo_classes: {chat: {ttft: 2s}}
compliance: {eu-only: {jurisdictions: [eu]}}
tenants: )" + wanted.tenants +
             "\ndestinations:\n" +
             (wanted.pool ? pool_of(cheap->port())
                          : "  - {id: cheap, tier: payg, provider: cheap, models: [m], price_key: cheap/m" +
                                (wanted.cheap_more.empty() ? ", unlimited: true" : wanted.cheap_more) + "}\n") +
             R"(  - {id: dear, tier: payg, provider: dear, models: [m], price_key: dear/m, unlimited: true}
)" + (wanted.pool ? "electricity: {price: \"0.12 USD/kWh\", pue: 1.3}\n" : "") +
             wanted.more;
    const std::string yaml =
        "version: 1\nlisten: {port: 0}\nthreads: 2\nfleet: fleet.yaml\ntenant: acme\nmode: " + wanted.mode +
        "\nspine: {dir: " + spine() + (wanted.strict.empty() ? "" : ", strict: [" + wanted.strict + "]") + "}\n" +
        wanted.config;
    ConfigReading reading = parse_config(yaml, "ace.yaml");
    ACE_CHECK(reading.mistakes.empty(), describe(reading.mistakes).c_str());
    config_ = reading.config;
    start();
  }
  ~Site() {
    service.reset();
    std::filesystem::remove_all(folder_);
  }

  [[nodiscard]] std::string spine() const { return (folder_ / "spine").string(); }
  /// Sends bytes and reads until the connection ends.
  [[nodiscard]] Got send(const std::string& bytes) const {
    const net::Peer peer = net::Peer::connect(service->port());
    (void)peer.send(bytes);
    return parse_got(peer.receive_all());
  }
  [[nodiscard]] Got chat(const std::string& more = {}, const std::string& fields = {}) const {
    return send(post(
        "/v1/chat/completions",
        R"({"model":"m","messages":[{"role":"user","content":"hello there"}],"max_tokens":50)" + more + "}", fields));
  }
  /// Ends the gateway and folds what it left. @return what `verify` finds, or nothing
  std::string stop() {
    const auto counts = service->stop();
    if (!counts) return counts.error().what();
    service.reset();
    return {};
  }
  void start() {
    Service::Options options;
    options.config = config_;
    options.load = [this](const Config&, std::vector<FleetText>* files) -> Result<FleetReading> {
      const FleetText text{event::FleetChanged::File::Role::fleet, "fleet.yaml", fleet_};
      Result<FleetReading> read = compile_fleet(text, nullptr, {}, environment);
      if (read) *files = {text};
      return read;
    };
    options.store.group_delay = group_delay_;
    options.secrets = secrets_of_process(folder_.string());
    Result<std::unique_ptr<Service>> started = Service::start(std::move(options));
    ACE_CHECK(started.has_value(), started ? "" : started.error().what().c_str());
    service = *std::move(started);
  }
  /// The fleet file says something else in one place, and is read again.
  Result<std::vector<std::string>> reload(const std::string& before, const std::string& after) {
    const std::size_t at = fleet_.find(before);
    ACE_CHECK(at != std::string::npos, "the fleet file says what is to change");
    fleet_.replace(at, before.size(), after);
    return service->reload(config_, false);
  }
  /// Every record that is in the log; of a gateway that runs, those that were committed.
  [[nodiscard]] std::vector<event::Record> records() const {
    std::vector<event::Record> all;
    const auto disk = PosixDisk::open(spine(), PosixDisk::Access::read).value();
    const auto read = spine::read_log(*disk, {}, [&](const spine::Frame& frame) -> Result<void> {
      if (frame.type == spine::RecordType::event) all.push_back(event::decode(frame.payload).value());
      return {};
    });
    ACE_CHECK(read.has_value(), "the spine of a test reads");
    return all;
  }

  std::unique_ptr<simulated::Upstream> cheap, dear;
  std::unique_ptr<Service> service;

 private:
  static std::string pool_of(std::uint16_t port) {
    return R"(  - id: pool
    tier: owned
    provider: cheap
    models: [m]
    accelerator: h100-80g
    count: 1
    amortization: "1.90 USD/h/gpu"
    metrics: "http://127.0.0.1:)" +
           std::to_string(port) + R"(/metrics"
    measured: {prefill_tokens_per_s: 9000, step_base: 10ms, step_per_sequence: 200us, batch_max: 12, kv_tokens_max: 180000,
               watts_idle: 120W, watts_busy: 600W}
)";
  }
  static std::filesystem::path fresh_folder() {
    static int number = 0;
    const auto folder = std::filesystem::temp_directory_path() /
                        ("ace_gateway_test_" + std::to_string(::getpid()) + "_" + std::to_string(++number));
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    return folder;
  }
  std::filesystem::path folder_;
  Duration group_delay_;
  std::string fleet_;
  Config config_;
};

/// The events of one kind.
template <class E>
std::vector<E> all(const std::vector<event::Record>& records) {
  std::vector<E> found;
  for (const event::Record& record : records)
    if (const auto* e = std::get_if<E>(&record.event)) found.push_back(*e);
  return found;
}

/// Every decision made again and every dollar. @return what differs, or nothing
inline std::string verified(const std::string& directory) {
  struct Fleets : verify::Fleets {
    std::unique_ptr<Snapshots> snapshots;
    void hear(const event::Record&) override {}
    Result<const Snapshot*> at(std::uint64_t number) override { return snapshots->at(number); }
  } fleets;
  fleets.snapshots = Snapshots::read(directory).value();
  verify::Derivation derivation(fleets);
  const auto disk = PosixDisk::open(directory, PosixDisk::Access::read).value();
  std::string wrong;
  const auto read = spine::read_log(*disk, {}, [&](const spine::Frame& frame) -> Result<void> {
    if (frame.type != spine::RecordType::event || !wrong.empty()) return {};
    const auto heard = derivation.hear(frame.sequence, frame.payload);
    if (!heard) return Error(heard.error());
    if (*heard) wrong = "expected " + (*heard)->expected + ", got " + (*heard)->got;
    return {};
  });
  return read ? wrong : read.error().what();
}

inline simulated::Fault fault(simulated::Fault::Kind kind) {
  simulated::Fault f;
  f.kind = kind;
  return f;
}

}  // namespace ace::gateway
