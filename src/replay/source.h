#pragma once
/// Where requests come from: the port that traces, generators and spools implement.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/names.h"
#include "core/result.h"
#include "core/time.h"
#include "core/units.h"

namespace ace {

/// One request of the world, as its log has it. Names are symbols of the source's table, masked before they get here.
struct Arrival {
  Instant at{};
  std::int64_t row = 0;        ///< data row in the trace, from 1; of a source that deals out totals, its request
                               ///< number: no two requests of a source have the same
  std::uint32_t model = 0;     ///< symbol; a trace without a model column has one symbol, ""
  std::uint32_t tenant = 0;    ///< symbol; likewise
  std::uint32_t team = 0;      ///< symbol; likewise
  std::int32_t prompt = 0;     ///< total prompt tokens, cached ones included
  std::int32_t output = 0;     ///< completion tokens, reasoning included
  std::int32_t reasoning = 0;  ///< of `output`
  std::int32_t cached = -1;    ///< prompt tokens served from the provider's cache as logged; -1 = the log does not say
  std::int32_t cache_write = 0;                     ///< of `prompt`, whatever its lifetime
  std::int32_t cache_write_1h = 0;                  ///< of `cache_write`
  std::int32_t audio_prompt = 0, image_prompt = 0;  ///< of `prompt`, neither cached nor written
  std::int32_t audio_output = 0, image_output = 0;  ///< of `output`
  std::int32_t max_output = 0;                      ///< as asked; 0 = not stated
  std::uint32_t needs = 0;                          ///< Capability bits beyond text
  bool batch = false;                               ///< sent through a batch API
  bool failed = false;                              ///< the log says it was not served
  bool cache_hit = false;       ///< the log says its gateway answered it from a response cache: no model ran
  std::int64_t cost_nano = -1;  ///< what the log says it cost, nano-USD; -1 = it does not say
  std::int64_t ttft_us = -1;    ///< as logged; -1 = it does not say
  std::int64_t duration_us = -1;
  std::uint64_t id = 0;                   ///< keyed hash of the log's own id; 0 = it has none, or none was asked for
  std::uint32_t provider = 0;             ///< symbol of who served it; likewise
  std::uint32_t project = 0, key = 0;     ///< symbols: what it was for, and whose API key; 0 = the log does not say
  std::span<const std::uint32_t> blocks;  ///< prefix block ids in order; valid until the next call of next()
  /// It cost money and not for tokens: an image, seconds of audio, pages, a search. No token price explains it, so no
  /// destination can be asked what it would charge.
  [[nodiscard]] bool billed_otherwise() const { return cost_nano > 0 && prompt == 0 && output == 0 && !cache_hit; }
};

/// What was not used, and why; counts by reason, first line numbers as evidence.
struct SkippedRows {
  std::string reason;
  std::uint64_t count = 0;
  std::vector<std::int64_t> lines;  ///< the first few
};

/// A stream of requests in time order.
class RequestSource {
 public:
  virtual ~RequestSource() = default;
  /// Fills the front of `batch`; returns how many, 0 at the end. Times never go backwards.
  virtual Result<std::size_t> next(std::span<Arrival> batch) = 0;
  /// Back to the first request. @return unavailable if this source can be read only once
  virtual Result<void> rewind() = 0;
  [[nodiscard]] virtual const Interner& models() const = 0;
  [[nodiscard]] virtual const Interner& tenants() const = 0;
  [[nodiscard]] virtual const Interner& teams() const = 0;
  /// Who served, as the log calls them, by symbol; the first is "". Only where origins were asked for.
  [[nodiscard]] virtual const Interner& providers() const;
  /// What requests were for, and under which API key (always masked), by symbol; the first of each is "".
  [[nodiscard]] virtual const Interner& projects() const;
  [[nodiscard]] virtual const Interner& keys() const;
  [[nodiscard]] virtual Tokens block_tokens() const { return Tokens{512}; }
  /// "Azure LLM inference CSV", for the report.
  [[nodiscard]] virtual std::string format() const = 0;
  [[nodiscard]] virtual std::vector<SkippedRows> skipped() const { return {}; }
  /// What was read but deserves a look (sorted rows, clamped times, aggregated input), as sentences for the report.
  [[nodiscard]] virtual std::vector<std::string> notes() const { return {}; }
  /// Share of the input consumed so far, in [0, 1], for progress; negative if unknown.
  [[nodiscard]] virtual double progress() const { return -1.0; }
};

/// The names of a source that has none.
inline const Interner& no_names() {
  static const Interner none = [] {
    Interner names;
    names("");
    return names;
  }();
  return none;
}
inline const Interner& RequestSource::providers() const { return no_names(); }
inline const Interner& RequestSource::projects() const { return no_names(); }
inline const Interner& RequestSource::keys() const { return no_names(); }

}  // namespace ace
