#pragma once
/// What the subcommands of `ace spine` share.
#include <memory>
#include <string>

#include "adapters/spine_writer.h"
#include "cli/cli.h"

namespace ace::cli {

/// The wall clock, never backwards: what is written later is not labelled earlier.
class WallClock : public Clock {
 public:
  Instant now() override;

 private:
  Instant latest_{};
};

/// Where the key lies that signs the checkpoints of the log in `directory`.
inline std::string signing_key_of(const std::string& directory) { return directory + "/signing.pem"; }

/// Options for opening the log of `directory` as its owner. @param signer outlives the log
spine::StoreOptions store_options(const spine::Signer& signer, spine::Durability durability);

void add_spine_append(CLI::App& spine, Context& context);
void add_spine_read(CLI::App& spine, Context& context);   ///< stat, tail, export, verify
void add_spine_admin(CLI::App& spine, Context& context);  ///< checkpoint, prune

}  // namespace ace::cli
