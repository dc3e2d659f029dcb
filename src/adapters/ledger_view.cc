#include "adapters/ledger_view.h"

#include <fmt/format.h>

#include <fstream>
#include <sstream>

#include "adapters/durable_file.h"
#include "core/little_endian.h"

namespace ace {
namespace {

constexpr std::string_view kMagic = "ACEVIEW1";
constexpr std::size_t kHead = 8 + 16 + 8 + 32 + 32;  // magic, log id, next record, chain before it, digest of the rest

/// Everything before `next` is in the state.
struct View {
  spine::LogId log{};
  std::uint64_t next = 0;
  Digest chain{};
  std::string state;
};

/// @return nothing and why, if there is no sound view
std::optional<View> read_view(const std::string& path, std::string& why) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return why = "there is none", std::nullopt;
  std::ostringstream text;
  text << in.rdbuf();
  const std::string bytes = std::move(text).str();
  if (bytes.size() < kHead || !bytes.starts_with(kMagic)) return why = "it is of another version", std::nullopt;
  const std::string_view all = bytes;
  Sha256 sha;
  if (view(sha({all.substr(0, kHead - 32), all.substr(kHead)})) != all.substr(kHead - 32, 32))
    return why = "it is damaged", std::nullopt;
  View v;
  std::copy_n(bytes.begin() + 8, v.log.size(), v.log.begin());
  v.next = little_endian::get<std::uint64_t>(all, 24);
  v.chain = digest_from(all.substr(32, 32));
  v.state = bytes.substr(kHead);
  return v;
}

/// What cannot be written is made again the next time.
void write_view(const std::string& path, const View& v) {
  std::string head(kMagic);
  head.append(reinterpret_cast<const char*>(v.log.data()), v.log.size());
  little_endian::put(head, v.next);
  head += view(v.chain);
  Sha256 sha;
  const Digest digest = sha({head, v.state});
  head += view(digest);
  (void)write_durably(path, head + v.state);
}

}  // namespace

Result<LedgerOfSpine> ledger_of(const std::string& directory, const LedgerOptions& options) {
  Result<LogView> on_disk = LogView::open(directory, options.archive);
  if (!on_disk) return std::move(on_disk).error();
  const Result<spine::Log::Identity> identity = spine::Log::identity(on_disk->disk());
  if (!identity) return Error(identity.error()).with("reading the log");
  const Result<spine::Pruned> pruned = spine::pruned_of(on_disk->disk());
  if (!pruned) return Error(pruned.error());
  Result<LogView> to_look_up = LogView::open(directory, options.archive);
  if (!to_look_up) return std::move(to_look_up).error();
  auto events = std::make_unique<SpineEvents>(*std::move(to_look_up));

  auto fleets = std::make_unique<Snapshots>(directory);
  SpineLedger::Options folding;
  folding.fleets = [s = fleets.get()](std::uint64_t number, const event::FleetChanged& change) {
    event::Record record;
    record.snapshot = number;
    record.event = change;
    s->hear(record);
    return s->at(number);
  };
  folding.recall = std::ref(*events);
  folding.decided_in = [e = events.get()](Instant from, Instant to, std::uint64_t before) {
    return e->decided_in(from, to, before);
  };
  folding.budgets = options.budgets;
  folding.each = options.each;
  const bool may_use = options.use_view && !options.before;
  const char* const name = options.budgets.empty() ? kLedgerView : kBudgetView;
  const std::string path = directory + "/" + name;
  std::string why = may_use ? "" : "it was not asked for";
  std::optional<View> view = may_use ? read_view(path, why) : std::nullopt;
  if (view && view->log != identity->id) {
    why = "it is of another log";
    view.reset();
  }

  for (bool again = false;; again = true) {
    LedgerOfSpine made{nullptr, nullptr, SpineLedger(folding), {}, 0, why};
    if (view) {
      Result<SpineLedger> restored = SpineLedger::restored(view->state, folding);
      if (restored) {
        made.ledger = *std::move(restored);
        made.begun = view->next;
      } else {
        made.view = why = restored.error().what();
        view.reset();
      }
    }
    if (!view && pruned->segments > 0)
      return Error(Errc::bad_input,
                   fmt::format("the first {} records were pruned, and {} cannot stand for them ({}): what they held "
                               "can no longer be folded without their --archive",
                               pruned->rest.end, name, why));
    bool fits = true;
    spine::ReadOptions reading;
    reading.from = made.begun;
    Result<spine::LogSummary> log =
        spine::read_log(on_disk->disk(), reading, [&](const spine::Frame& frame) -> Result<void> {
          if (view && frame.sequence == view->next && frame.previous != spine::beginning_of(view->chain)) fits = false;
          if (!fits) return Error(Errc::conflict, "the view is of another log");
          if (options.progress && frame.sequence % 65'536 == 0) options.progress(frame.sequence);
          if (frame.type != spine::RecordType::event || frame.sequence >= options.before.value_or(~0ULL)) return {};
          const Result<event::Record> record = event::decode(frame.payload);
          if (!record) return Error(record.error()).with(fmt::format("record {}", frame.sequence));
          if (frame.durability == spine::Durability::relaxed) made.ledger.was_acknowledged_early();
          return made.ledger.add(frame.sequence, *record);
        });
    if (log && view && (log->next < view->next || (log->next == view->next && log->chain != view->chain))) fits = false;
    if (!fits && !again) {
      why = "the log is not the one that it was folded from";
      view.reset();
      continue;
    }
    if (!log) return std::move(log).error();
    made.log = *std::move(log);
    made.fleets = std::move(fleets);
    made.events = std::move(events);
    if (options.save_view && may_use && (made.log.next != made.begun || !made.view.empty()))
      write_view(path, {made.log.id, made.log.next, made.log.chain, made.ledger.state()});
    return made;
  }
}

Result<ViewCheck> check_view(const std::string& directory, const std::string& archive) {
  ViewCheck check;
  std::string why;
  const std::optional<View> view = read_view(directory + "/" + kLedgerView, why);
  if (!view) return check;
  LedgerOptions options;
  options.archive = archive;
  options.use_view = options.save_view = false;
  options.before = view->next;
  const Result<LedgerOfSpine> again = ledger_of(directory, options);
  if (!again) return Error(again.error());
  if (view->log != again->log.id || again->log.next < view->next) return check;  // nobody would go on from it
  check.records = view->next;
  check.equal = view->state == again->ledger.state();
  return check;
}

}  // namespace ace
