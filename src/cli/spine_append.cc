#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <iostream>
#include <mutex>
#include <thread>

#include "cli/spine.h"
#include "core/ids.h"

namespace ace::cli {
namespace {

struct Arguments {
  std::string directory, checkpoint, durability = "group";
  std::uint32_t segment_bytes = spine::LogOptions().segment_bytes;
  bool from_stdin = false;
};

/// Ids by the position of their event in the spool, in order, until they are settled.
class Receipts {
 public:
  explicit Receipts(std::ostream& out) : out_(out) {}
  void expect(std::string id) {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(id));
  }
  void withdraw() {
    const std::lock_guard lock(mutex_);
    waiting_.pop_back();
  }
  void settled(const spine::Appended& appended) {
    const std::lock_guard lock(mutex_);
    if (waiting_.empty()) return;
    const bool nowhere = appended.outcome == spine::Appended::Outcome::too_old;
    refused_ += nowhere ? 1 : 0;
    out_ << fmt::format("{} {} {}\n", waiting_.front(), spine::name_of(appended.outcome),
                        nowhere ? "-" : std::to_string(appended.sequence));
    out_.flush();
    waiting_.pop_front();
  }
  /// How many events were older than what was pruned, and are not in the log.
  std::uint64_t refused() {
    const std::lock_guard lock(mutex_);
    return refused_;
  }

 private:
  std::ostream& out_;
  std::mutex mutex_;
  std::uint64_t refused_ = 0;
  std::deque<std::string> waiting_;
};

Result<void> run(const Arguments& a, Context& context) {
  const spine::Durability durability = a.durability == "strict"    ? spine::Durability::strict
                                       : a.durability == "relaxed" ? spine::Durability::relaxed
                                                                   : spine::Durability::group;
  WallClock clock;
  // The directory first, so that the key has a place to lie.
  if (Result<std::unique_ptr<PosixDisk>> made = PosixDisk::open(a.directory, PosixDisk::Access::own); !made)
    return std::move(made).error();
  const Result<spine::Signer> signer = signer_of(a.directory);
  if (!signer) return Error(signer.error());
  spine::StoreOptions options = store_options(*signer, durability);
  options.log.segment_bytes = a.segment_bytes;
  if (Result<void> known = not_older_than(a.checkpoint, options); !known) return known;
  options.log.reserve_bytes = std::min(options.log.reserve_bytes, a.segment_bytes);
  Result<std::unique_ptr<SpineWriter>> writer = SpineWriter::open(a.directory, options, clock);
  if (!writer) return std::move(writer).error();
  if (const spine::Recovery& found = (*writer)->recovery(); found.bytes_cut > 0)
    *context.err << fmt::format("ace: cut {} bytes at {}, which nobody was told were durable\n", found.bytes_cut,
                                spine::to_text({found.cut_segment, found.cut_offset}));
  Receipts receipts(*context.out);
  (*writer)->on_settled(
      [&](std::uint32_t, std::uint64_t, const spine::Appended& appended) { receipts.settled(appended); });
  *context.err << "ace: ready\n";
  context.err->flush();
  std::string line;
  for (std::uint64_t number = 1; std::getline(std::cin, line); ++number) {
    const auto wrong = [&](const Error& error) { return Error(error).with(fmt::format("line {}", number)); };
    const Result<std::string> bytes = from_base64(line);
    if (!bytes) return wrong(bytes.error());
    const Result<event::Record> record = event::decode(*bytes);
    if (!record) return wrong(record.error());
    const event::Key key = event::key_of(*record);
    while (true) {
      receipts.expect(to_base32(key.id.high, key.id.low));
      const Result<std::uint64_t> position = (*writer)->append(0, key, *bytes);
      if (position) break;
      receipts.withdraw();
      if (const spine::Health health = (*writer)->health(); !health.failure.empty() || health.full)
        return Error(position.error());
      std::this_thread::sleep_for(std::chrono::milliseconds{1});  // the writer is behind
    }
  }
  if (Result<void> closed = (*writer)->close(); !closed) return closed;
  if (const std::uint64_t refused = receipts.refused(); refused > 0)
    return Error(Errc::check_failed,
                 fmt::format("{} events are older than what was pruned, and were not recorded", refused));
  return {};
}

}  // namespace

void add_spine_append(CLI::App& spine, Context& context) {
  auto a = std::make_shared<Arguments>();
  CLI::App* append =
      spine.add_subcommand("append",
                           "Append events, base64 of their bytes, one a line; prints \"ID OUTCOME RECORD\" once each "
                           "is durable; exit code 1 if one was too old to be recorded");
  append->add_option("directory", a->directory, "of the log; made if it is not there")->required();
  append->add_option("--checkpoint", a->checkpoint, kNotOlderHelp)->type_name("FILE");
  append->add_flag("--stdin", a->from_stdin, "read the events from standard input")->required();
  append->add_option("--durability", a->durability, "strict, group, or relaxed")
      ->check(CLI::IsMember({"strict", "group", "relaxed"}))
      ->capture_default_str();
  append->add_option("--segment-bytes", a->segment_bytes, "size of the segments made from now on")
      ->check(CLI::Range(static_cast<unsigned>(4 * spine::kSealMax), 1U << 30))
      ->capture_default_str();
  append->callback([a, &context] {
    if (Result<void> done = run(*a, context); !done) context.fail(done.error());
  });
}

}  // namespace ace::cli
