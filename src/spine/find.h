#pragma once
/// One event, or all of one request, out of a log as it lies on the disk: by its key, without a writer and without
/// reading what is before it.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "spine/keys.h"
#include "spine/segment.h"

namespace ace::spine {

/// Where the keys of a sealed segment lie beside it they are looked up there; else, and in the segment that grows, the
/// segment is read once. Not for several threads at once.
class Finder {
 public:
  struct Found {
    std::uint64_t sequence = 0;
    std::string payload;  ///< the event's bytes
  };

  /// @param disk outlives the finder; only read
  explicit Finder(Disk& disk) : disk_(&disk), keys_(disk) {}

  /// The event of this key among the records before `before`; conflicts are none.
  /// @return nothing if there is none, or it was pruned; corrupt if a segment is not sound
  Result<std::optional<Found>> find(const event::Key& key, std::uint64_t before);
  /// The events that a request is put together from (Admitted, Decided, Attempted, CacheHit, Completed), in the order
  /// of the log. Ordinals of one kind count from 0 or 1 without a gap.
  /// @return nothing if it was not admitted before `before`; as find()
  Result<std::vector<Found>> request(std::uint32_t tenant, event::EventId id, std::uint64_t before);

 private:
  /// Takes note of segments that are there and were not.
  Result<void> look();
  /// Reads the keys of a segment from its records. @return those and where the records end
  struct Listed {
    std::vector<std::pair<Fingerprint, std::uint32_t>> keys;
    std::uint64_t next = 0;
  };
  Result<Listed> list(std::uint32_t segment);
  Result<std::optional<Found>> at(Address address, const event::Key& key, std::uint64_t before);

  Disk* disk_;
  Keys keys_;
  std::uint32_t sealed_ = 0;  ///< all up to this segment are known
  std::uint64_t next_ = 0;    ///< records before this one are known
  std::map<std::uint32_t, std::unique_ptr<File>> files_;
};

}  // namespace ace::spine
