#pragma once
/// A world while requests live under it: what is believed of it, and what the spine was told. The desk's alone.
#include <array>
#include <map>
#include <queue>
#include <vector>

#include "gateway/desk.h"
#include "ledger/hold.h"
#include "ledger/ledger.h"

namespace ace::gateway {

/// One of the two streams of events that a world may have on the spine: of requests that ACE decided, and of those that
/// went where they went before.
struct Telling {
  Telling(const Snapshot& fleet, std::uint64_t n) : number(n), witness(fleet) {}
  std::uint64_t number;  ///< of the snapshot on the spine
  event::Witness witness;
  bool broken = false;  ///< something of it was lost: nothing more is written under this number
};

struct Era {
  Era(std::shared_ptr<const World> w, const Belief::Options& options)
      : world(std::move(w)),
        belief(world->snapshot, options),
        scratch(world->snapshot),
        holds(world->snapshot),
        settler(world->snapshot) {}

  std::shared_ptr<const World> world;
  Belief belief;
  Scratch scratch;
  Holds holds;
  Settler settler;
  Prefixes::Of prefixes;
  std::array<std::shared_ptr<Telling>, 2> tellings;  ///< of control and of ACE's own
  bool anew = false;                                 ///< next time under a number of its own
  std::size_t flights = 0;
  std::map<std::uint32_t, std::int64_t> answering;  ///< by destination: servers whose engines told of their load
  std::map<std::uint32_t, Instant> told;            ///< by destination: what is left there was recorded last
  /// Where a request would have gone that went elsewhere: it holds capacity there for as long as was predicted.
  struct Virtual {
    Instant until{};
    std::int64_t output = 0;
    Claim claim;
    bool operator<(const Virtual& other) const { return until > other.until; }  // heap: the next one on top
  };
  std::priority_queue<Virtual> virtually;
};

}  // namespace ace::gateway
