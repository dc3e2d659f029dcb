#pragma once
/// Which events are in the log, and where: so that each is there once.
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "spine/digest.h"
#include "spine/disk.h"
#include "spine/frame.h"
#include "spine/open_keys.h"
#include "spine/record.h"

namespace ace::spine {

Fingerprint fingerprint_of(const event::Key& key);

/// The keys of one segment: a hash table while it grows, 24 bytes each in a sorted file once it is sealed. Files of
/// sealed segments are opened when an id of their time is asked for, and then a window around the place where the key
/// must lie is read: logs in which many segments hold the same days stay fast.
class Keys {
 public:
  explicit Keys(Disk& disk) : disk_(&disk) {}

  void add(const Fingerprint& key, Address address);
  /// A sealed segment: the times in its ids, and the chain behind its last record, which no other segment of any log
  /// has. A file of keys says it too, so that one of another log, or of a copy that went on by itself, is no word.
  struct Sealed {
    std::uint64_t ms_min = 0, ms_max = 0;
    Digest chain{};
  };
  /// All of this segment's, sorted, into its file; they stay known. Losing the file loses nothing: it can be made
  /// again.
  Result<void> seal(std::uint32_t segment, const Sealed& as);
  /// A segment sealed earlier, whose keys are in its file.
  void sealed(std::uint32_t segment, const Sealed& as);
  /// A segment that was walked as the last one, with every key added, and turned out to be sealed.
  void sealed_as(std::uint32_t segment, const Sealed& as);
  /// Places that may hold this key, oldest first: usually none or one.
  /// @param id_ms the time in its id
  /// @return not_found if the file of a segment must be made again first; its number is in `missing`
  Result<std::vector<Address>> find(const Fingerprint& key, std::uint64_t id_ms, std::uint32_t& missing);
  /// Makes the file of a sealed segment again, and has it at hand also where there is no room for it.
  Result<void> restore(std::uint32_t segment, std::vector<std::pair<Fingerprint, std::uint32_t>> keys);

  /// The keys of a sealed segment, had at hand and written nowhere.
  void hold(std::uint32_t segment, std::vector<std::pair<Fingerprint, std::uint32_t>> keys);
  /// Segments up to this one are gone.
  void pruned(std::uint32_t last);
  /// Of the growing segment none are known any more.
  void forget_open() { open_.clear(); }

  static std::string name_of(std::uint32_t segment);  ///< "00000003.keys"

 private:
  using Entry = std::pair<Fingerprint, std::uint32_t>;  ///< offset in the segment
  using Table = std::vector<Entry>;                     // sorted
  /// The keys of a sealed segment: in its file, or here if there was no room for that.
  struct Listed {
    std::unique_ptr<File> file;
    std::uint64_t count = 0;
    Table held;
  };
  Result<Listed*> listed(std::uint32_t segment);
  static Result<Table> entries(Listed& listed, std::uint64_t begin, std::uint64_t count);
  static Result<void> places_in(Listed& listed, const Fingerprint& key, std::uint32_t segment,
                                std::vector<Address>& places);
  Result<void> write(std::uint32_t segment, const Table& table);

  Disk* disk_;
  OpenKeys open_;  ///< of the growing segment
  std::map<std::uint32_t, Sealed> sealed_;
  std::map<std::uint32_t, Listed> listed_;
};

}  // namespace ace::spine
