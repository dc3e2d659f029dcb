#pragma once
/// Which models a pool holds that was given more of them than fit its memory: the stand-in policy of a replay.
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "dispatch/dispatch.h"

namespace ace {

/// At home a pool holds the models that fit together, in the order of the fleet file. Another of its models is a guest:
/// it comes alone, for a request that can wait for it, and only to a home where nothing runs and nothing was asked for
/// as long as the way there and back takes. It stays while it is used. It leaves when it was not for that long, or when
/// a request for a home model comes: then it takes nothing new, finishes what it has, and home is loaded again.
///
/// All units of a pool hold the same. A load takes Offer::load_s of all of them; their unit-hours are fixed cost and
/// run on, which is how it is paid.
class Swaps {
 public:
  /// @param allowed false: everybody stays at home
  explicit Swaps(const Snapshot& fleet, bool allowed = true);

  /// Everybody is at home from now on.
  void start(Instant now);
  /// When a load ends or an idle time is over; the far future where nothing is swapped.
  [[nodiscard]] Instant next() const { return next_; }
  /// What is due by `now`.
  void tick(Instant now);
  /// A request goes to a guest that is not there yet: it is fetched, unless it is on its way. @return when it is there
  /// @pre the guest may come (Belief::Holding::open), or is on its way
  Instant fetch(Instant now, OfferId guest);
  /// An attempt began, or ended, at this destination.
  void began(Instant now, DestinationId destination);
  void ended(Instant now, DestinationId destination);
  /// A request asked for this model. If it is of a home where a guest is, the guest leaves.
  void asked(Instant now, ModelId model);
  /// What pools hold since the last call.
  [[nodiscard]] std::vector<Belief::Holding> take_moved() { return std::exchange(moved_, {}); }
  [[nodiscard]] bool any_moved() const { return !moved_.empty(); }

  /// Loads begun, and their time, at a destination.
  struct Loads {
    std::uint64_t count = 0;
    Duration time{0};
  };
  [[nodiscard]] Loads loads(DestinationId destination) const { return pools_[destination.value].loads; }

 private:
  enum class State : std::uint8_t { home, fetching, guest, leaving, returning };
  struct Pool {
    bool swaps = false;  ///< has guests
    State state = State::home;
    bool open = false;  ///< of a home: guests may come
    OfferId guest;
    Duration home_load{0}, longest_load{0};
    Instant until{};      ///< of a load
    Instant last_used{};  ///< began, ended or was asked for
    std::int64_t in_flight = 0;
    Loads loads;
  };
  /// The way there and back.
  [[nodiscard]] Duration spell(const Pool& pool) const;
  [[nodiscard]] Instant due(const Pool& pool) const;
  void begin_load(Pool& pool, Instant now, State state, Duration takes);
  void tell(std::size_t destination);
  void plan_next();

  const Snapshot* fleet_;
  std::vector<Pool> pools_;                                            ///< by destination
  std::vector<std::vector<std::pair<DestinationId, OfferId>>> homes_;  ///< by model: pools with guests where it is home
  std::vector<Belief::Holding> moved_;
  Instant next_ = Instant::max();
};

}  // namespace ace
