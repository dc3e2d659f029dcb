/// Whatever events a spine holds, a decision is made again from them or refused as none of its snapshot; twice it is
/// the same, and it chooses what its evidence holds.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "dispatch/generate_testing.h"
#include "spine/spine.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ace;
  using namespace ace::event;
  static const auto fleet = [] {
    Rng rng(12, "fleet");
    return gen::fleet(rng);
  }();
  static const Snapshot snapshot(*fleet);
  Hindsight hindsight(snapshot);
  std::optional<Admitted> admitted;
  // Events one after the other, each behind its length in two bytes.
  while (size >= 2) {
    const std::size_t length = std::min<std::size_t>(data[0] | static_cast<std::size_t>(data[1]) << 8, size - 2);
    const std::string_view bytes(reinterpret_cast<const char*>(data + 2), length);
    data += 2 + length;
    size -= 2 + length;
    const Result<Record> record = decode(bytes);
    if (!record) continue;
    hindsight.hear(record->event);
    if (const auto* a = std::get_if<Admitted>(&record->event)) admitted = *a;
    if (!admitted || !std::holds_alternative<Decided>(record->event)) continue;
    if (!belongs(snapshot, *admitted, *record)) continue;
    const Decision once = hindsight.decide_again(*admitted, *record),
                   twice = hindsight.decide_again(*admitted, *record);
    ACE_CHECK(once.chosen == twice.chosen && once.terms.key() == twice.terms.key() &&
                  difference(*record, once) == difference(*record, twice),
              "a decision has no one answer");
    const std::vector<LiveColumn>& live = record->evidence.live;
    ACE_CHECK(!once.chosen.valid() || std::any_of(live.begin(), live.end(),
                                                  [&](const LiveColumn& c) { return c.offer == once.chosen.value; }),
              "an offer was chosen of which nothing is known");
  }
  return 0;
}
