#pragma once
/// The world's request logs as streams of requests: open, detect, read, spool, count, convert.
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "perimeter/perimeter.h"
#include "replay/source.h"
#include "trace/binary.h"
#include "trace/fit.h"
#include "trace/generate.h"
#include "trace/io.h"
#include "trace/servegen.h"
#include "trace/spine_trace.h"
#include "trace/spool.h"
#include "trace/stats.h"
#include "trace/write_mooncake.h"
#include "trace/write_text.h"
#include "trace/zstd_sink.h"

namespace ace {

struct Fleet;

enum class TraceFormat : std::uint8_t { azure, burstgpt, mooncake, servegen, litellm, openai_usage, csv, jsonl, ace };
std::string_view name_of(TraceFormat format);
std::optional<TraceFormat> trace_format_from(std::string_view name);

/// What becomes of a row that cannot be read.
enum class OnBadRow : std::uint8_t {
  fail,  ///< the first one ends the reading with its line, column and reason
  skip,  ///< counted by reason with the first lines; see RequestSource::skipped()
};

/// Raw names to what may leave the perimeter. A name that is empty stays empty.
struct Masks {
  using Mask = std::function<std::string(std::string_view raw)>;
  Mask model, tenant, team, project;
  Mask identity;  ///< users and API keys: never a declared name
  Mask provider;
};

/// Masks under one key; the names of the fleet file pass as they are.
Masks masks_with(const MaskKey& key, const std::vector<std::string>& models = {},
                 const std::vector<std::string>& tenants = {}, const std::vector<std::string>& teams = {},
                 const std::vector<std::string>& providers = {}, const std::vector<std::string>& projects = {});
/// The same with the models (and their aliases), tenants, teams and projects that a fleet file declares, and with its
/// providers and destinations in its own words and in those of its price lists. @param models further ones
Masks masks_for(const MaskKey& key, const Fleet& fleet, std::vector<std::string> models = {});
/// A key for this run alone, from the system's random source.
MaskKey random_mask_key();

struct ReadOptions {
  std::optional<TraceFormat> format;  ///< none: told by the content
  /// For generic CSV and JSONL: "at=ts:ms,prompt=in,output=out,model=m"; a unit (s, ms, us, ns) may follow a column.
  std::string columns;
  char delimiter = ',';
  std::string tz;     ///< of times without a zone in generic files; the known formats are UTC
  bool sort = false;  ///< rows may go back in time: sorted by time, stably, in bounded memory
  OnBadRow on_bad_row = OnBadRow::fail;
  Masks masks;                      ///< absent ones mask under a random key
  std::size_t line_max = 1U << 20;  ///< bytes
  bool origins = false;             ///< also fill Arrival::id and Arrival::provider
};

/// A request log as a stream in time order. Memory does not grow with its length.
///
/// @param path a file (plain, gzip or zstd, told by content) or "-" for standard input
/// @return bad_input if the format is not known or a required column is missing, unavailable if it cannot be opened;
///         errors of rows come from next(), with the line
Result<std::unique_ptr<RequestSource>> open_trace(const std::string& path, const ReadOptions& options = {});
/// The same from bytes. @param name for messages
Result<std::unique_ptr<RequestSource>> read_trace(std::unique_ptr<ByteInput> bytes, const std::string& name,
                                                  const ReadOptions& options = {});

}  // namespace ace
