/// A request that is accepted can be rewritten; what comes out is accepted too, says what was changed, and changing it
/// again changes nothing. What is translated is JSON. The first byte chooses the operation.
#include <cstdint>

#include "core/check.h"
#include "wire/request.h"
#include "wire/translate.h"

namespace {

using namespace ace::wire;

void check_json(const Translated& translated) {
  Json json;
  ACE_CHECK(translated.error || json.parse(translated.body), "a translation is no JSON");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const auto operation = static_cast<Operation>(data[0] % kOperations);
  if (operation == Operation::models) return 0;
  const std::string_view body(reinterpret_cast<const char*>(data + 1), size - 1);
  Json json;
  const ReadRequest got = read_request(operation, body, {}, json);
  if (got.error) {
    ACE_CHECK(got.error->status >= 400 && !got.error->code.empty(), "an error without status or code");
    Json shape;
    ACE_CHECK(shape.parse(error_body(dialect_of(operation), *got.error)), "an error that is no JSON");
    return 0;
  }
  if (operation == Operation::chat) check_json(request_to_anthropic(json.root(), "m", 1));
  if (operation == Operation::messages) check_json(request_to_openai(json.root(), "m"));

  Changes changes;
  changes.model = "other";
  changes.force_usage = true;
  changes.max_tokens = 9;
  changes.cache_key = "k";
  const std::string out = rewritten(body, got.request, changes);
  Json again;
  const ReadRequest back = read_request(operation, out, {}, again);
  ACE_CHECK(!back.error, "a rewritten request is refused");
  ACE_CHECK(back.request.model == "other" && back.request.max_tokens == 9, "a change did not arrive");
  ACE_CHECK(rewritten(out, back.request, changes) == out, "rewriting twice is not rewriting once");
  return 0;
}
