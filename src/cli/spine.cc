#include "cli/spine.h"

#include <chrono>
#include <random>

namespace ace::cli {

Instant WallClock::now() {
  const Instant seen =
      instant(std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
                  .count());
  latest_ = std::max(latest_, seen);
  return latest_;
}

spine::StoreOptions store_options(const spine::Signer& signer, spine::Durability durability) {
  spine::StoreOptions options;
  options.log.signer = &signer;
  options.log.durability = durability;
  std::random_device random;  // the log's id is drawn once, when it is made
  for (auto& byte : options.log.id) byte = static_cast<std::uint8_t>(random() & 0xff);
  return options;
}

void add_spine(CLI::App& app, Context& context) {
  CLI::App* spine = app.add_subcommand("spine", "The event log: look at it, check it, keep it");
  spine->require_subcommand(1);
  add_spine_read(*spine, context);
  add_spine_admin(*spine, context);
  add_spine_append(*spine, context);
}

}  // namespace ace::cli
