#include <fmt/format.h>

#include <chrono>
#include <ostream>
#include <thread>

#include "adapters/fleet_files.h"
#include "adapters/ledger_view.h"
#include "cli/spine.h"

namespace ace::cli {
namespace {

struct Arguments {
  std::string directory, archive;
  std::uint32_t last = 0;
  std::int64_t days = -1;
  bool discard = false;
};

/// Is there a log at all? Nothing is made where there is none: a directory without one is a mistake.
Result<void> has_log(const std::string& directory) {
  const Result<std::unique_ptr<PosixDisk>> disk = PosixDisk::open(directory, PosixDisk::Access::read);
  if (!disk) return Error(disk.error());
  const Result<spine::Log::Identity> there = spine::Log::identity(**disk);
  if (there) return {};
  if (there.error().code() == Errc::not_found) return Error(Errc::not_found, directory + " holds no spine");
  return Error(there.error());
}

void say_who_signed(const spine::Signer& signer, Context& context) {
  const spine::PublicKey key = signer.public_key();
  *context.err << "ace: signed by " << to_hex({reinterpret_cast<const char*>(key.data()), key.size()})
               << "; keep both where this machine cannot rewrite them\n";
}

/// A log in use is its writer's alone, who signs one every minute: the newest of these.
Result<void> newest_checkpoint(const Arguments& a, const spine::Signer& signer, Context& context) {
  const Result<std::unique_ptr<PosixDisk>> disk = PosixDisk::open(a.directory, PosixDisk::Access::read);
  if (!disk) return Error(disk.error());
  const Result<spine::LogSummary> log =
      spine::read_log(**disk, {}, [](const spine::Frame&) -> Result<void> { return {}; });
  if (!log) return Error(log.error());
  if (!log->last_checkpoint)
    return Error(Errc::unavailable,
                 "another process owns the log and has signed no checkpoint yet; it does so every "
                 "minute, so try again then");
  *context.out << log->last_note;
  *context.err << fmt::format(
      "ace: note: another process owns the log; this is the newest checkpoint it signed, of {} of the {} records\n",
      log->last_checkpoint->size, log->next);
  say_who_signed(signer, context);
  return {};
}

Result<void> checkpoint(const Arguments& a, Context& context) {
  WallClock clock;
  if (Result<void> there = has_log(a.directory); !there) return there;
  const Result<spine::Signer> signer = signer_of(a.directory);
  if (!signer) return Error(signer.error());
  Result<std::unique_ptr<PosixDisk>> disk = PosixDisk::open(a.directory, PosixDisk::Access::own);
  if (!disk && disk.error().code() == Errc::conflict) return newest_checkpoint(a, *signer, context);
  if (!disk) return std::move(disk).error();
  spine::Recovery recovery;
  Result<spine::Log> log =
      spine::Log::open(**disk, store_options(*signer, spine::Durability::group).log, clock.now(), recovery);
  if (!log) return std::move(log).error();
  if (Result<void> done = log->checkpoint(clock.now()); !done) return done;
  if (Result<void> done = log->commit(clock.now()); !done) return done;
  *context.out << log->last_checkpoint();
  say_who_signed(*signer, context);
  return {};
}

Result<void> rotate_key(const Arguments& a, Context& context) {
  WallClock clock;
  if (Result<void> there = has_log(a.directory); !there) return there;
  Result<std::unique_ptr<PosixDisk>> disk = PosixDisk::open(a.directory, PosixDisk::Access::own);
  if (!disk) return std::move(disk).error().with("the signing key is its writer's, who must be stopped before");
  const Result<spine::Signer> signer = signer_of(a.directory);
  if (!signer) return Error(signer.error());
  // On the disk before the log names it, so that there is no moment without the key that signs.
  const Result<spine::Signer> next = signer_at(next_key_of(a.directory));
  if (!next) return Error(next.error());
  spine::Recovery recovery;
  Result<spine::Log> log =
      spine::Log::open(**disk, store_options(*signer, spine::Durability::group).log, clock.now(), recovery);
  if (!log) return std::move(log).error();
  if (Result<void> done = log->hand_over(*next, clock.now()); !done) return done;
  if (Result<void> done = log->commit(clock.now()); !done) return done;
  if (Result<void> done = take_over(a.directory); !done) return done;
  *context.out << log->last_checkpoint();
  const spine::PublicKey before = signer->public_key();
  *context.err << "ace: handed over from " << to_hex({reinterpret_cast<const char*>(before.data()), before.size()})
               << "\n";
  say_who_signed(*next, context);
  return {};
}

/// The last segment that may go: the one named, or the last whose newest event is that old.
Result<std::uint32_t> last_to_prune(const Arguments& a, spine::Disk& disk) {
  if (a.days < 0) return a.last;
  const Result<spine::Pruned> pruned = spine::pruned_of(disk);
  if (!pruned) return Error(pruned.error());
  WallClock clock;
  const std::int64_t before_ms = nanos(clock.now()) / 1'000'000 - a.days * 86'400'000;
  for (std::uint32_t number = pruned->segments + 1;; ++number) {
    Result<std::unique_ptr<spine::File>> file = disk.open(spine::segment_name(number), false);
    if (!file) return std::move(file).error();
    const Result<std::optional<spine::Seal>> seal = spine::seal_at_end(**file, number);
    if (!seal) return Error(seal.error());
    const bool old = *seal && ((*seal)->id_ms_min > (*seal)->id_ms_max ||  // no event in it
                               static_cast<std::int64_t>((*seal)->id_ms_max) < before_ms);
    if (!old) return number - 1;
  }
}

/// A writer drops a request for what cannot go, so it is refused before.
Result<void> all_sealed(spine::Disk& disk, std::uint32_t first, std::uint32_t last) {
  for (std::uint32_t number = first; number <= last; ++number) {
    Result<std::unique_ptr<spine::File>> file = disk.open(spine::segment_name(number), false);
    if (!file) return std::move(file).error();
    const Result<std::optional<spine::Seal>> seal = spine::seal_at_end(**file, number);
    if (!seal) return Error(seal.error());
    if (!*seal) return Error(Errc::bad_input, fmt::format("pruning: segment {} is not sealed", number));
  }
  return {};
}

/// What the ledger was folded to must not go with the records: the view is brought up to date before.
void keep_the_books(const Arguments& a, Context& context) {
  LedgerOptions options;
  options.archive = a.archive;
  const Result<LedgerOfSpine> folded = ledger_of(a.directory, options);
  if (!folded)
    *context.err << fmt::format("ace: warning: the ledger of what goes cannot be folded{}: {}\n",
                                a.discard ? ", and never will be" : " without the archive", folded.error().what());
}

/// The writer is asked to; it looks every second.
Result<spine::Pruned> prune_beside_writer(const std::string& directory, std::uint32_t last) {
  Result<std::unique_ptr<PosixDisk>> disk = PosixDisk::open(directory, PosixDisk::Access::beside);
  if (!disk) return std::move(disk).error();
  if (Result<void> asked = spine::ask_to_prune(**disk, last); !asked) return std::move(asked).error();
  constexpr int kLooks = 300;
  for (int look = 0; look < kLooks; ++look) {
    std::this_thread::sleep_for(std::chrono::milliseconds{100});
    const Result<spine::Pruned> pruned = spine::pruned_of(**disk);
    if (!pruned || pruned->segments >= last) return pruned;
  }
  (void)(*disk)->remove(spine::kPruneAsked);
  return Error(Errc::unavailable,
               "the process that owns the spine did not remove the segments within 30 s; is it alive?");
}

Result<void> prune(const Arguments& a, Context& context) {
  if ((a.last == 0) == (a.days < 0))
    return Error(Errc::bad_input, "which segments? give either --to SEGMENT or --older-than DAYS");
  if (a.archive.empty() == !a.discard)
    return Error(Errc::bad_input,
                 "give the --archive that holds them (`ace spine archive`), or --discard to lose them for ever");
  if (Result<void> there = has_log(a.directory); !there) return there;
  Result<std::unique_ptr<PosixDisk>> disk = PosixDisk::open(a.directory, PosixDisk::Access::own);
  const bool in_use = !disk && disk.error().code() == Errc::conflict;
  if (in_use) disk = PosixDisk::open(a.directory, PosixDisk::Access::read);
  if (!disk) return std::move(disk).error();
  const Result<std::uint32_t> last = last_to_prune(a, **disk);
  if (!last) return Error(last.error());
  const Result<spine::Pruned> before = spine::pruned_of(**disk);
  if (!before) return Error(before.error());
  if (!a.archive.empty()) {
    const Result<std::unique_ptr<PosixDisk>> archived = PosixDisk::open(a.archive, PosixDisk::Access::read);
    if (!archived) return Error(archived.error()).with("the archive");
    if (Result<void> held = spine::archive_holds(**disk, **archived, before->segments + 1, *last); !held) return held;
  }
  if (*last <= before->segments) {
    *context.out << (before->segments == 0
                         ? std::string("nothing to remove: no sealed segment is that old\n")
                         : fmt::format("nothing to remove: segments 1 to {} are gone already\n", before->segments));
    return {};
  }
  if (Result<void> sealed = all_sealed(**disk, before->segments + 1, *last); !sealed) return sealed;
  keep_the_books(a, context);
  const Result<spine::Pruned> pruned = in_use ? prune_beside_writer(a.directory, *last) : spine::prune(**disk, *last);
  if (!pruned) return Error(pruned.error());
  *context.out << fmt::format("segments 1 to {} are removed, {} records; their roots stay\n", pruned->segments,
                              pruned->rest.end);
  return {};
}

Result<void> archive(const Arguments& a, Context& context) {
  const Result<std::unique_ptr<PosixDisk>> disk = PosixDisk::open(a.directory, PosixDisk::Access::read);
  if (!disk) return Error(disk.error());
  if (const Result<spine::Log::Identity> there = spine::Log::identity(**disk); !there) return Error(there.error());
  const Result<std::unique_ptr<PosixDisk>> to = PosixDisk::open(a.archive, PosixDisk::Access::own);
  if (!to) return Error(to.error()).with("the archive");
  const Result<spine::Archived> done = spine::archive(**disk, **to);
  if (!done) return Error(done.error());
  if (Result<void> kept = FleetFiles(a.directory).copy(FleetFiles(a.archive)); !kept) return kept;
  if (done->last < done->first)
    *context.out << "no segment is sealed yet\n";
  else
    *context.out << fmt::format("{} holds segments {} to {}; {} added, {} bytes in {}, read back and equal\n",
                                a.archive, done->first, done->last, done->added, done->bytes, done->bytes_packed);
  return {};
}

}  // namespace

void add_spine_admin(CLI::App& spine, Context& context) {
  auto c = std::make_shared<Arguments>();
  CLI::App* checkpoint_command = spine.add_subcommand("checkpoint",
                                                      "Sign what the log is now, and print it to be kept elsewhere; of "
                                                      "a log in use, the newest that its writer signed");
  checkpoint_command->add_option("directory", c->directory, "of the log")->required();
  checkpoint_command->callback([c, &context] {
    if (Result<void> done = checkpoint(*c, context); !done) context.fail(done.error());
  });
  auto r = std::make_shared<Arguments>();
  CLI::App* rotate_command = spine.add_subcommand("rotate-key",
                                                  "Hand the signing of checkpoints over to a new key, by a checkpoint "
                                                  "that both sign; prints it to be kept elsewhere");
  rotate_command->add_option("directory", r->directory, "of the log; nothing else may be writing it")->required();
  rotate_command->callback([r, &context] {
    if (Result<void> done = rotate_key(*r, context); !done) context.fail(done.error());
  });
  auto v = std::make_shared<Arguments>();
  CLI::App* archive_command = spine.add_subcommand(
      "archive", "Copy sealed segments to another directory, compressed; each is read back and compared");
  archive_command->add_option("directory", v->directory, "of the log; it may be in use")->required();
  archive_command->add_option("to", v->archive, "directory of the archive; made if it is not there")->required();
  archive_command->callback([v, &context] {
    if (Result<void> done = archive(*v, context); !done) context.fail(done.error());
  });
  auto p = std::make_shared<Arguments>();
  CLI::App* prune_command = spine.add_subcommand("prune", "Remove the oldest segments, once an archive holds them");
  prune_command->add_option("directory", p->directory, "of the log")->required();
  prune_command->add_option("--to", p->last, "last segment to remove")->type_name("SEGMENT");
  prune_command
      ->add_option("--older-than", p->days, "remove the segments whose newest event is older than this many days")
      ->check(CLI::Range(0, 100'000))
      ->type_name("DAYS");
  prune_command->add_option("--archive", p->archive, "directory that must hold each of them, byte for byte")
      ->type_name("DIR");
  prune_command->add_flag("--discard", p->discard, "remove them although no archive holds them");
  prune_command->callback([p, &context] {
    if (Result<void> done = prune(*p, context); !done) context.fail(done.error());
  });
}

}  // namespace ace::cli
