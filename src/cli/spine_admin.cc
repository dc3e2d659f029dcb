#include <fmt/format.h>

#include <ostream>

#include "cli/spine.h"

namespace ace::cli {
namespace {

struct Arguments {
  std::string directory;
  std::uint32_t last = 0;
};

Result<void> checkpoint(const Arguments& a, Context& context) {
  WallClock clock;
  const Result<spine::Signer> signer = signer_at(signing_key_of(a.directory));
  if (!signer) return Error(signer.error());
  Result<std::unique_ptr<PosixDisk>> disk = PosixDisk::open(a.directory, PosixDisk::Access::own);
  if (!disk) return std::move(disk).error();
  // Nothing is made here: a directory without a log is a mistake.
  if (const Result<spine::Log::Identity> there = spine::Log::identity(**disk); !there) return Error(there.error());
  spine::Recovery recovery;
  Result<spine::Log> log =
      spine::Log::open(**disk, store_options(*signer, spine::Durability::group).log, clock.now(), recovery);
  if (!log) return std::move(log).error();
  if (Result<void> done = log->checkpoint(clock.now()); !done) return done;
  if (Result<void> done = log->commit(clock.now()); !done) return done;
  *context.out << log->last_checkpoint();
  const spine::PublicKey key = signer->public_key();
  *context.err << "ace: signed by " << to_hex({reinterpret_cast<const char*>(key.data()), key.size()})
               << "; keep both where this machine cannot rewrite them\n";
  return {};
}

Result<void> prune(const Arguments& a, Context& context) {
  Result<std::unique_ptr<PosixDisk>> disk = PosixDisk::open(a.directory, PosixDisk::Access::own);
  if (!disk) return std::move(disk).error();
  const Result<spine::Pruned> pruned = spine::prune(**disk, a.last);
  if (!pruned) return Error(pruned.error());
  *context.out << fmt::format("segments 1 to {} are removed, {} records; their roots stay\n", pruned->segments,
                              pruned->rest.end);
  return {};
}

}  // namespace

void add_spine_admin(CLI::App& spine, Context& context) {
  auto c = std::make_shared<Arguments>();
  CLI::App* checkpoint_command =
      spine.add_subcommand("checkpoint", "Sign what the log is now, and print it to be kept elsewhere");
  checkpoint_command->add_option("directory", c->directory, "of the log")->required();
  checkpoint_command->callback([c, &context] {
    if (Result<void> done = checkpoint(*c, context); !done) context.fail(done.error());
  });
  auto p = std::make_shared<Arguments>();
  CLI::App* prune_command =
      spine.add_subcommand("prune", "Remove the oldest segments; copy them first to archive them");
  prune_command->add_option("directory", p->directory, "of the log")->required();
  prune_command->add_option("--to", p->last, "last segment to remove")->required()->type_name("SEGMENT");
  prune_command->callback([p, &context] {
    if (Result<void> done = prune(*p, context); !done) context.fail(done.error());
  });
}

}  // namespace ace::cli
