#pragma once
/// What a log says happened, as events: who asked for what, who served it, how it ended. No decision was seen, so none
/// is recorded.
#include <optional>
#include <unordered_map>
#include <vector>

#include "replay/analysis.h"
#include "spine/spine.h"

namespace ace {

/// Why the destination that served a request is not known.
enum class Origin : std::uint8_t {
  known,
  unnamed,    ///< the log does not say
  unknown,    ///< the fleet has no destination with this model at that provider
  ambiguous,  ///< it has several
};
inline constexpr std::size_t kOrigins = 4;
std::string_view name_of(Origin origin);

class LogEvents {
 public:
  LogEvents(const Snapshot& fleet, const RequestSource& source) : fleet_(&fleet), source_(&source) {}

  /// The events of one row: Admitted, Attempted (unless a cache answered), FirstToken where its time was logged,
  /// CacheHit where there was one, Completed. Their id follows from the row's own id, or, where it has none, from all
  /// it says and from how many of the same came before: the same log gives the same ids. Tenants and teams are symbols
  /// of the source.
  /// @param demand of the row; times never go back
  std::vector<event::Record> operator()(const Demand& demand);
  /// Who served the last row.
  [[nodiscard]] Origin origin() const { return origin_; }

 private:
  struct Served {
    OfferId offer;
    Origin origin = Origin::unnamed;
  };
  [[nodiscard]] RequestId id_of(const Demand& demand);
  [[nodiscard]] Served served_by(ModelId model, std::uint32_t provider);

  const Snapshot* fleet_;
  const RequestSource* source_;
  std::vector<std::vector<std::optional<Served>>> served_;  ///< by model, then provider symbol
  /// Rows of this millisecond without an id of their own, by what they say. Looked up only.
  std::unordered_map<std::uint64_t, std::uint32_t> alike_;
  std::int64_t ms_ = 0;
  Origin origin_ = Origin::unnamed;
};

}  // namespace ace
