/// Where the network cuts a stream of AWS's frames changes no message, and none is larger than the limit.
#include <string>
#include <vector>

#include "adapters/event_stream.h"
#include "core/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  const std::size_t step = 1 + data[0];
  constexpr std::size_t limit = 4096;
  ace::EventStreamParser whole(limit), pieces(limit);
  std::vector<std::string> one, many;
  const auto into = [](std::vector<std::string>& list) {
    return [&list](const ace::EventStreamMessage& m) {
      ACE_CHECK(m.payload.size() <= limit, "a message beyond the limit");
      list.push_back(std::string(m.message_type) + '|' + std::string(m.event_type) + '|' +
                     std::string(m.exception_type) + '|' + std::string(m.payload));
      return true;
    };
  };
  const bool good = whole.feed(bytes, into(one));
  bool still = true;
  for (std::size_t at = 0; at < bytes.size(); at += step) {
    const std::string piece(bytes.substr(at, step));
    still = pieces.feed(piece, into(many));
  }
  ACE_CHECK(good == still && one == many, "a cut changed the messages");
  return 0;
}
