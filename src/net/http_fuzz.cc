/// Where the network happens to cut a stream of HTTP messages must not change what we read from it; and what we read,
/// written again by us, reads back the same. The first byte chooses requests or responses, the second where to cut.
#include <array>

#include "core/check.h"
#include "net/http_testing.h"
#include "net/write_head.h"

namespace {

using namespace ace::net;

void write_again(Side side, const ReadMessage& message, std::string& out) {
  HeadWriter writer(out);
  const std::size_t space = message.start.find(' ');
  if (side == Side::requests) {
    writer.request(message.start.substr(0, space), message.start.substr(space + 1));
  } else {
    writer.status(std::stoi(message.start));
  }
  bool chunked = false, counted = false;
  for (const auto& [name, value] : message.fields) {
    ACE_CHECK(writer.field(name, value), "a field that was read cannot be written");
    chunked |= equals_ignoring_case(name, "transfer-encoding");
    counted |= equals_ignoring_case(name, "content-length");
  }
  writer.end();
  if (side == Side::responses && message.start == "304") return;  // tells the framing of a body that it does not have
  if (chunked && !message.body.empty()) out.append(ChunkHead(message.body.size()).text());
  out.append(message.body);
  if (chunked && !message.body.empty()) out.append(kChunkEnd);
  if (chunked) out.append(kLastChunk);
  ACE_CHECK(chunked || counted || message.body.empty(), "a body without a length");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const Side side = data[0] % 2 == 0 ? Side::requests : Side::responses;
  // Limits small enough to be reached.
  const Limits limits{.line_bytes = 200, .head_bytes = 600, .fields = 12, .body_bytes = 500};
  const std::string_view bytes(reinterpret_cast<const char*>(data + 2), size - 2);
  const std::size_t cut = data[1] % (bytes.size() + 1);
  const Transcript whole = read_messages(side, std::array{bytes}, limits);
  const Transcript split = read_messages(side, std::array{bytes.substr(0, cut), bytes.substr(cut)}, limits);
  ACE_CHECK(whole == split, "where the bytes were cut changed the messages");

  std::string again;
  std::vector<ReadMessage> written;  // we write HTTP/1.1, whatever was read
  for (const ReadMessage& message : whole.messages) {
    if (message.minor == 1) written.push_back(message);
  }
  for (const ReadMessage& message : written) write_again(side, message, again);
  const Limits wide{.line_bytes = 1000, .head_bytes = 4000, .fields = 12, .body_bytes = 500};
  const Transcript back = read_messages(side, std::array{std::string_view(again)}, wide);
  ACE_CHECK(back.fault == Fault::none && !back.inside && back.messages == written,
            "a message that was read and written reads back different");
  return 0;
}
