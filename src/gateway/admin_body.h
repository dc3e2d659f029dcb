#pragma once
/// The members of a JSON body that the admin API was sent.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/admin_route.h"

namespace ace::gateway {

/// Reads members by name and keeps the first thing that is wrong. A member that is null or absent leaves its target as
/// it is; after done(), one that nobody asked for is wrong too, so that a misspelt one is never taken for absent.
class BodyReader {
 public:
  /// @param body null or an object; outlives the reader
  explicit BodyReader(const nlohmann::ordered_json& body) : body_(body) {}

  /// @param bytes_max of the text @return whether it was there and right
  bool text(const char* name, std::string& into, std::size_t bytes_max = 256);
  void texts(const char* name, std::vector<std::string>& into);
  void boolean(const char* name, bool& into);
  /// A number in [0, 1].
  void share(const char* name, double& into);
  /// A whole number from 1 on.
  void limit(const char* name, std::int64_t& into);
  /// Whole seconds, from 0 to a hundred years.
  void seconds(const char* name, std::optional<Duration>& into);
  void wrong(std::string_view name, std::string_view expected);
  /// Every member was asked for.
  void done();

  /// 400, saying what is wrong; none = all is well.
  [[nodiscard]] std::optional<Admin::Answer> refused() const;

 private:
  const nlohmann::ordered_json* take(const char* name);
  const nlohmann::ordered_json& body_;
  std::vector<std::string> known_;
  std::string wrong_;
};

}  // namespace ace::gateway
