#pragma once
/// A key, a token or a password in memory: nothing prints or compares it by accident.
#include <string>
#include <string_view>
#include <utility>

namespace ace {

/// Text that only reveal() shows, at the place that sends it. Its bytes are wiped when it goes.
class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string text) : text_(std::move(text)) {}
  Secret(const Secret&) = default;
  Secret& operator=(const Secret& other);
  Secret(Secret&& other) noexcept;
  Secret& operator=(Secret&& other) noexcept;
  ~Secret() { wipe(); }

  [[nodiscard]] bool empty() const { return text_.empty(); }
  [[nodiscard]] std::string_view reveal() const { return text_; }

 private:
  void wipe();
  std::string text_;
};

}  // namespace ace
