/// Compressed bytes: how they are cut does not change what is unpacked, nor whether it is an error.
#include "trace/reader_testing.h"

namespace {
std::string unpack(const std::string& bytes, std::size_t piece, std::size_t room) {
  auto input = ace::decompressed(ace::bytes_of(bytes, piece));
  std::vector<char> buffer(room);
  std::string out;
  for (;;) {
    const ace::Result<std::size_t> got = input->read(buffer);
    if (!got) return "error";
    if (*got == 0) return "ok" + out;
    out.append(buffer.data(), *got);
    if (out.size() > (1U << 20)) return "large";  // a bomb is bounded by whoever reads
  }
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const std::string bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  ACE_CHECK(unpack(bytes, ~std::size_t{0}, 1U << 16) == unpack(bytes, 1 + data[0] % 16, 4096),
            "a cut changed the bytes");
  return 0;
}
