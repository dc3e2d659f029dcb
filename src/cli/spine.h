#pragma once
/// What the subcommands of `ace spine` share.
#include <memory>
#include <string>

#include "adapters/log_view.h"
#include "adapters/spine_writer.h"
#include "adapters/wall_clock.h"
#include "cli/cli.h"

namespace ace::cli {

/// Where the key lies that signs the checkpoints of the log in `directory`.
inline std::string signing_key_of(const std::string& directory) { return directory + "/signing.pem"; }

/// That key; made if there is none. A hand-over that was cut off is ended first: if the log names the key that waits as
/// the successor, it is the one that signs.
Result<spine::Signer> signer_of(const std::string& directory);
/// Where the next key waits until the log has its hand-over.
inline std::string next_key_of(const std::string& directory) { return directory + "/signing.next.pem"; }
/// Puts the key that waits in the place of the one before it.
Result<void> take_over(const std::string& directory);

/// Options for opening the log of `directory` as its owner. @param signer outlives the log
spine::StoreOptions store_options(const spine::Signer& signer, spine::Durability durability);

/// A log that is shorter than a checkpoint of it that was kept elsewhere is an old copy, and is not written to.
/// @param file of the checkpoint; empty = none @return bad_input if its signature is not that of the options' signer
Result<void> not_older_than(const std::string& file, spine::StoreOptions& options);
inline constexpr const char* kNotOlderHelp =
    "a checkpoint of the spine that was kept elsewhere: a log that is shorter is an old copy, and is refused";

inline constexpr const char* kArchiveHelp =
    "directory to which `ace spine archive` copied segments that were pruned since";

/// A public key of Ed25519 as `ace spine checkpoint` prints it, 64 hexadecimal digits.
Result<spine::PublicKey> public_key_from(const std::string& text);
/// The 26 characters of an id, with or without its prefix ("req_").
Result<event::EventId> event_id_from(const std::string& text);

void add_spine_append(CLI::App& spine, Context& context);
void add_spine_read(CLI::App& spine, Context& context);  ///< stat, tail, export, verify
void add_spine_prove(CLI::App& spine, Context& context);
void add_spine_admin(CLI::App& spine, Context& context);  ///< checkpoint, prune

}  // namespace ace::cli
