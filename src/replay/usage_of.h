#pragma once
/// What a request of a log is billed for when it runs somewhere else than in the log.
#include <algorithm>

#include "fleet/fleet.h"
#include "replay/source.h"

namespace ace {

/// Disjoint classes of a request where `cached` of its prompt tokens are found in a prefix cache and the answer has
/// `output` tokens.
///
/// The parts of the log fit its own prompt and answer; ours may be found in another cache, and another model answers at
/// another length. So cached tokens come first, then audio, images and cache writes as far as the prompt goes, and the
/// parts of the answer are scaled with it, rounded down.
/// @param cached in [0, arrival.prompt] @param output not negative
inline Usage usage_of(const Arrival& arrival, std::int64_t cached, std::int64_t output) {
  std::int64_t prompt = arrival.prompt - cached, answer = output;
  Usage usage;
  const auto of_prompt = [&](Unit unit, std::int64_t part) {
    const std::int64_t fits = std::min(part, prompt);
    if (fits <= 0) return;
    usage.set(unit, fits);
    prompt -= fits;
  };
  const auto of_answer = [&](Unit unit, std::int64_t part) {
    if (part <= 0 || arrival.output <= 0) return;
    const std::int64_t scaled = part * output / arrival.output;
    usage.set(unit, scaled);
    answer -= scaled;
  };
  of_prompt(Unit::audio_input, arrival.audio_prompt);
  of_prompt(Unit::image_input, arrival.image_prompt);
  of_prompt(Unit::cache_write_1h, arrival.cache_write_1h);
  of_prompt(Unit::cache_write, std::int64_t{arrival.cache_write} - arrival.cache_write_1h);
  of_answer(Unit::reasoning, arrival.reasoning);
  of_answer(Unit::audio_output, arrival.audio_output);
  of_answer(Unit::image_output, arrival.image_output);
  usage.set(Unit::input, prompt);
  usage.set(Unit::cached_input, cached);
  usage.set(Unit::output, answer);
  return usage;
}

}  // namespace ace
