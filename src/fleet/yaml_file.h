#pragma once
/// A file of ours in YAML (or JSON, which is YAML), read with the findings of the fleet file: all mistakes at once,
/// each with its place and how to mend it.
#include <algorithm>
#include <string>
#include <string_view>

#include "core/result.h"
#include "fleet/findings.h"

namespace ace {

/// Calls `read(findings, root)` on the map that the document is.
/// @return bad_input telling every mistake
template <class Read>
Result<void> read_yaml(std::string_view text, const std::string& file, Read read) {
  yaml::Document document;
  yaml::read(text, {}, document);
  fleet_file::Findings findings(file, document);
  bool readable = true;
  for (const yaml::Fault& fault : document.faults) {
    readable = readable && !fault.stops;
    findings.mistake(fault.line, fault.column, fault.path, fault.what, fault.mend);
  }
  if (readable) {
    fleet_file::Map root(findings, {&document.root, nullptr, ""});
    read(findings, root);
    root.done();
  }
  const std::vector<Mistake> mistakes = findings.take_mistakes();
  if (mistakes.empty()) return {};
  return Error(Errc::bad_input, describe(mistakes));
}

}  // namespace ace
