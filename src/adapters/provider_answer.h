#pragma once
/// The answers: passed on as they come where both sides speak the same dialect, else translated event by event.
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "adapters/provider.h"
#include "net/sse.h"
#include "wire/translate.h"

namespace ace {

/// Cuts a stream of events into blocks, each with the empty line that ends it, byte for byte. A CR ends a line at once;
/// the LF that may follow it begins what comes next.
class EventBlocks {
 public:
  /// @return where in `bytes`, from `at` on, the block ends that is under way; npos if it does not. Looks at each byte
  /// once: continue with what comes after.
  std::size_t end_of_block(std::string_view bytes, std::size_t at);
  /// Between blocks: whether the byte at `at` is the other half of the line end that closed the last one. Takes it.
  bool takes_lf(std::string_view bytes, std::size_t at);

 private:
  bool line_empty_ = true, after_cr_ = false;
};

/// An answer in the client's own dialect.
/// @param hide_usage whether the chunk that has the usage alone is ours, not the client's
std::unique_ptr<Answer> native_answer(const wire::Request& request, bool hide_usage);

/// An answer of a provider that speaks messages, for a client that speaks chat completions, or the other way round.
std::unique_ptr<Answer> chat_from_messages(const wire::Request& request, Instant now);
std::unique_ptr<Answer> messages_from_chat();

}  // namespace ace
