/// Bytes as a trace of this format: cuts change nothing, and the statistics agree with a naive sum.
#include "trace/reader_testing.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ace::check_reader(ace::TraceFormat::burstgpt, data, size);
  return 0;
}
