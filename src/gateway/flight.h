#pragma once
/// A request between its admission and its end, as the desk keeps it.
#include <functional>
#include <memory>
#include <vector>

#include "gateway/caller.h"
#include "gateway/world.h"
#include "ledger/budget.h"
#include "spine/spine.h"

namespace ace::gateway {

struct Era;
struct Telling;

/// A request that is handed on unread, between its two events.
struct HandedOn {
  event::Passed event;
  std::shared_ptr<Telling> telling;  ///< null: it is not recorded
  std::uint64_t position = 0;        ///< on the spine
};

/// The proxy owns it, the desk alone changes it.
struct Flight {
  Flight() = default;
  Flight(const Flight&) = delete;
  Flight& operator=(const Flight&) = delete;

  RequestId id;
  std::shared_ptr<Era> era;          ///< it came in under, and ends under
  std::shared_ptr<Telling> telling;  ///< null: none of it is recorded
  std::uint64_t position = 0;        ///< on the spine, of what was recorded of it last
  event::Admitted admitted;
  std::string tenant;  ///< of the caller
  std::string_view data_class;
  BudgetTicket ticket;
  std::vector<std::uint32_t> blocks;  ///< of its prompt
  std::vector<OfferId> unable;        ///< cannot serve what it asks, whatever the fleet says
  OfferId fixed;                      ///< where the static route sends it
  bool arm = false;                   ///< of a canary: ACE's
  bool acts = false;                  ///< ACE decides where it goes
  Instant until{};                    ///< end of its patience

  // The attempt under way.
  OfferId offer;  ///< none between attempts
  Claim claim;
  bool claimed = false;
  /// The same in worlds that came into force meanwhile: it takes room there too.
  struct Later {
    std::shared_ptr<Era> era;
    Claim claim;
  };
  std::vector<Later> later;
  Instant sent{}, first_token{};

  event::Decided decided;  ///< the last decision that dispatched
  std::vector<event::Attempted> attempts;
  std::vector<OfferId> tried;
  std::uint32_t decisions = 0, told_attempts = 0;
  std::optional<Verdict> told;
  Verdict verdict = Verdict::no_capacity;  ///< of the last decision
  Usd predicted{};                         ///< cost of the answer as predicted, where it was sent
  Duration predicted_time{0};              ///< from there to the last token
  bool ended = false;

  // While it waits for capacity.
  std::function<void()> wake;  ///< from any thread; set by the proxy before it waits
  bool waiting = false, shed = false;
};

}  // namespace ace::gateway
