#include "cli/feed.h"

#include <fmt/format.h>

#include "adapters/http_feed.h"
#include "cli/files.h"
#include "fleet/values.h"
#include "trace/trace.h"

namespace ace::cli {

Result<std::string> read_feed(const std::string& path_or_url) {
  if (!path_or_url.starts_with("http://") && !path_or_url.starts_with("https://")) return read_file(path_or_url);
  fleet_file::Misread why;
  const std::optional<Endpoint> from = fleet_file::parse_url(path_or_url, true, why);
  if (!from) return Error(Errc::bad_input, fmt::format("{}: expected {}; {}", path_or_url, why.expected, why.mend));
  Result<std::string> body = fetch_feed(*from);
  if (!body) return body;
  const std::unique_ptr<ByteInput> bytes = decompressed(bytes_of(*std::move(body)));
  std::string text;
  std::vector<char> buffer(1 << 16);
  for (;;) {
    const Result<std::size_t> got = bytes->read(buffer);
    if (!got) return Error(got.error()).with("reading " + path_or_url);
    if (*got == 0) return text;
    text.append(buffer.data(), *got);
  }
}

}  // namespace ace::cli
