/// Where the network happens to cut a stream must not change the events we read from it; and what we read, framed again
/// by us, reads back the same.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/check.h"
#include "net/sse.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  const std::size_t cut = data[0] % (bytes.size() + 1);
  using Events = std::vector<std::pair<std::string, std::string>>;
  const auto collect = [](Events& events) {
    return [&events](const ace::net::SseEvent& event) { events.emplace_back(event.type, event.data); };
  };
  ace::net::SseParser whole(300), split(300);
  Events want, got;
  const bool good = whole.feed(bytes, collect(want));
  split.feed(bytes.substr(0, cut), collect(got));
  ACE_CHECK(split.feed(bytes.substr(cut), collect(got)) == good, "where the stream was cut made it fail");
  ACE_CHECK(got == want, "where the stream was cut changed the events");

  std::string again;
  for (const auto& [type, text] : want) ace::net::append_event(again, {type, text});
  ace::net::SseParser parser;
  Events back;
  ACE_CHECK(parser.feed(again, collect(back)) && back == want, "an event that was framed again reads back different");
  return 0;
}
