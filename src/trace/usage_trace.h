#pragma once
/// Inside the readers: the usage export of an OpenAI organization, whose rows are totals.
#include <simdjson.h>

#include "trace/file_trace.h"
#include "trace/json_documents.h"

namespace ace {

/// Makes requests of buckets. A result with N requests becomes N of them, at the middles of N equal parts of its
/// bucket, with its tokens dealt out evenly so that they sum to the total exactly. That keeps money right and loses the
/// arrival process and the spread of sizes, so the source says that it is aggregated.
///
/// Shape: https://platform.openai.com/docs/api-reference/usage/completions ("page" of "bucket" of
/// "organization.usage.completions.result"), in both its meanings. Until 2026 input_tokens and output_tokens were text
/// alone, and audio stood beside them. Since then they count text, audio and images together, cached and written ones
/// included; input_uncached_tokens and its kin tell such a result, and input_audio_tokens and input_image_tokens count
/// what was neither cached nor written. Pages may follow one another.
class UsageTrace : public FileTrace {
 public:
  UsageTrace(std::unique_ptr<Window> window, std::string name, const ReadOptions& options);
  static constexpr std::size_t kPageMax = 16U << 20;  ///< bytes of one page

 protected:
  Result<std::size_t> fill(std::span<Arrival> batch) override;
  void restart() override;
  void add_notes(std::vector<std::string>& notes) const override;

 private:
  /// Totals of one group in one bucket, and how far they have been dealt out.
  struct Group {
    Instant from{}, to{};
    std::int64_t requests = 0, done = 0;
    std::int64_t text = 0, cached = 0, written = 0, audio = 0, image = 0;  ///< of the prompts, disjoint
    std::int64_t text_output = 0, audio_output = 0, image_output = 0;      ///< of the answers, disjoint
    bool cached_known = false;
    Arrival like{};  ///< names and flags
    [[nodiscard]] Instant at() const;
  };
  Result<void> read_page(std::string_view document);
  Result<void> read_bucket(simdjson::dom::element bucket);
  Result<void> read_tokens(simdjson::dom::element result, Group& group);
  void tell(simdjson::dom::element result, const Group& group);
  Result<Group> read_group(simdjson::dom::element result, Instant from, Instant to);
  Arrival deal(Group& group);

  JsonDocuments documents_;
  simdjson::dom::parser parser_;
  std::vector<Group> groups_;         ///< of the page at hand, buckets in order
  std::size_t first_ = 0, last_ = 0;  ///< groups of the bucket being dealt out
  std::uint64_t totals_ = 0;
  std::int64_t dealt_ = 0;  ///< requests given out so far
};

}  // namespace ace
