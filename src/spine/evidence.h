#pragma once
/// Taking down what a decision rests on, and making the decision again from it. Between the two lies nothing but the
/// recorded events: columns that move with every request are in the Decided itself, all others move by events.
///
/// A shell that records calls `Witness::before`, decides, and calls `Witness::evidence`; a reader hands every event to
/// `Hindsight::hear` and calls `decide_again`.
#include <functional>
#include <string>
#include <vector>

#include "spine/record.h"

namespace ace::event {

/// Moves the columns that an event tells of: Changed, HealthChanged, PriceChanged, UnitsChanged. Others move none, and
/// neither does one with an index that the snapshot does not have: `belongs` says so.
void apply(const Snapshot& fleet, const Event& event, Live& live);

class Witness {
 public:
  explicit Witness(const Snapshot& fleet) : fleet_(&fleet), told_(fleet) {}
  /// Rounds what the decision will read to what can be recorded, and says what moved since it was last said of the
  /// candidates' slow columns: knees, health, prices, quotas. Units are the shell's to say.
  void before(const Request& request, Instant now, Live& live, const std::function<void(Event)>& say);
  /// What the decision on this very request rested on. Allocates.
  /// @param columns_max the others are counted, and a digest stands for them
  [[nodiscard]] Evidence evidence(const Request& request, Instant now, const Live& live, Scratch& scratch,
                                  std::size_t columns_max = kColumnsMax) const;
  /// The shell said this.
  void said(const UnitsChanged& change) { apply(*fleet_, change, told_); }

 private:
  const Snapshot* fleet_;
  Live told_;  ///< as a reader has it
};

/// The world as a reader knows it. One per snapshot; events come in the order of the log.
class Hindsight {
 public:
  explicit Hindsight(const Snapshot& fleet) : fleet_(&fleet), live_(fleet), scratch_(fleet) {}
  void hear(const Event& event) { apply(*fleet_, event, live_); }
  /// Decides again. @pre every index is of this snapshot @param record of a Decided
  [[nodiscard]] Decision decide_again(const Admitted& admitted, const Record& record);
  /// All candidates with their terms and why they were left out, as dispatch's explain() has them. Those without a
  /// column were left out for health or room; which of the two is known as far as events tell. @pre as above, and
  /// decide_again() was not called, which forgets what is running @param record of a Decided
  [[nodiscard]] std::vector<Candidate> explain_again(const Admitted& admitted, const Record& record);

 private:
  const Snapshot* fleet_;
  Live live_;
  Scratch scratch_;
};

/// The cheapest pay-as-you-go offer of a model for these tokens that may serve this request; none if there is none.
OfferId cheapest_payg(const Snapshot& fleet, const Admitted& admitted, ModelId model, const Usage& usage);
/// The request as decide() saw it. Refers to the snapshot. @pre every index is of this snapshot
Request request_of(const Snapshot& fleet, const Admitted& admitted, const Record& record);
/// Are the indices of an event that moves columns within the snapshot? @return corrupt, naming which
Result<void> belongs(const Snapshot& fleet, const Event& event);
/// Are all indices of a request and of a decision on it within the snapshot, columns too? @return corrupt, naming which
Result<void> belongs(const Snapshot& fleet, const Admitted& admitted, const Record& record);
/// How a recorded decision differs from one made again; empty = it does not. Choice, verdict, counts of what neither
/// time nor load changes, and how many were left in all. Of those left out for health or room the record holds no
/// columns, so only their number is compared.
std::string difference(const Record& recorded, const Decision& again);

}  // namespace ace::event
