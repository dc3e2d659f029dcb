#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/check.h"
#include "core/hash.h"
#include "trace/trace.h"

namespace {

/// All rows of a stream that is whole, as one number; 0 if reading it fails.
std::uint64_t digest(const std::string& bytes, std::size_t piece, std::size_t batch_size) {
  auto source = ace::open_binary(ace::Window(ace::bytes_of(bytes, piece), std::size_t{1} << 20), ace::ReadOptions{});
  if (!source) return 0;
  std::vector<ace::Arrival> batch(batch_size);
  std::uint64_t hash = 1;
  std::int64_t before = INT64_MIN;
  while (true) {
    const auto n = (*source)->next(batch);
    if (!n) return 0;
    if (*n == 0) return hash;
    for (std::size_t i = 0; i < *n; ++i) {
      const ace::Arrival& a = batch[i];
      ACE_CHECK(ace::nanos(a.at) >= before, "time went backwards");
      ACE_CHECK(a.prompt >= 0 && a.output >= 0, "a negative count got through");
      ACE_CHECK(a.tenant < (*source)->tenants().size() && a.model < (*source)->models().size(),
                "a name that is not there");
      before = ace::nanos(a.at);
      hash = ace::mix(hash, static_cast<std::uint64_t>(before) ^ static_cast<std::uint64_t>(a.prompt));
      for (const std::uint32_t block : a.blocks) hash = ace::mix(hash, block);
    }
  }
}

}  // namespace

/// How a stream is cut and read must not change what it says.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes = std::string(ace::kBinaryMagic) + std::string(reinterpret_cast<const char*>(data), size);
  ACE_CHECK(digest(bytes, ~std::size_t{0}, 1000) == digest(bytes, 3, 2), "cutting a stream changed its rows");
  return 0;
}
