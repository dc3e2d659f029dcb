#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "report/report.h"

namespace ace {
namespace {

using Json = nlohmann::ordered_json;
constexpr std::size_t kShown = 20;

std::string brief(const Json& value) {
  std::string text = value.dump();
  if (text.size() > 80) text = text.substr(0, 77) + "...";
  return text;
}

void walk(const Json& expected, const Json& got, const std::string& path, std::vector<std::string>& differences) {
  if (differences.size() >= kShown || expected == got) return;
  if (expected.is_object() && got.is_object()) {
    for (const auto& [key, value] : expected.items()) {
      if (!got.contains(key))
        differences.push_back(fmt::format("{}/{}: the report has {}, recomputed nothing", path, key, brief(value)));
      else
        walk(value, got[key], path + "/" + key, differences);
    }
    for (const auto& [key, value] : got.items())
      if (!expected.contains(key))
        differences.push_back(fmt::format("{}/{}: the report has nothing, recomputed {}", path, key, brief(value)));
    return;
  }
  if (expected.is_array() && got.is_array() && expected.size() == got.size()) {
    for (std::size_t i = 0; i < expected.size(); ++i)
      walk(expected[i], got[i], fmt::format("{}/{}", path, i), differences);
    return;
  }
  differences.push_back(
      fmt::format("{}: the report has {}, recomputed {}", path.empty() ? "/" : path, brief(expected), brief(got)));
}

}  // namespace

std::vector<std::string> compare_reports(std::string_view expected_json, std::string_view got_json) {
  std::vector<std::string> differences;
  const Json expected = Json::parse(expected_json, nullptr, false);
  const Json got = Json::parse(got_json, nullptr, false);
  if (expected.is_discarded()) return {"the expected report is not JSON"};
  if (got.is_discarded()) return {"the recomputed report is not JSON"};
  walk(expected, got, "", differences);
  return differences;
}

}  // namespace ace
