#pragma once
/// Result<T>: a value, or what the world said instead. The names are those of std::expected (C++23).
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "core/check.h"

namespace ace {

/// What a caller can do about an error; one table maps it to an exit code.
enum class Errc : std::uint8_t {
  bad_input,     ///< mend the input
  out_of_range,  ///< a value that does not fit where it must go
  not_found,
  conflict,      ///< two inputs disagree
  unpriced,      ///< no price is known; never treated as zero
  truncated,     ///< the input ends too early
  corrupt,       ///< the input fails its own checksum or grammar
  unavailable,   ///< the world failed: a file, a disk, a peer
  check_failed,  ///< the work was done and the answer is no
};

std::string_view name_of(Errc code);

/// Process exit code: 1 the check failed, 2 usage or input error, 3 environment.
int exit_code(Errc code);

/// What we were doing, what was expected, what came and what to try.
class Error {
 public:
  Error(Errc code, std::string what) : code_(code), what_(std::move(what)) {}
  [[nodiscard]] Errc code() const { return code_; }
  [[nodiscard]] const std::string& what() const { return what_; }
  /// The same error, saying what the caller was doing: "loading the fleet: ...".
  [[nodiscard]] Error with(std::string_view doing) && {
    what_ = std::string(doing) + ": " + what_;
    return std::move(*this);
  }
  friend bool operator==(const Error&, const Error&) = default;

 private:
  Errc code_;
  std::string what_;
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}
  [[nodiscard]] bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }
  T& value() & { return check(), std::get<0>(state_); }
  const T& value() const& { return check(), std::get<0>(state_); }
  T&& value() && { return check(), std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  T value_or(T other) const& { return has_value() ? std::get<0>(state_) : std::move(other); }
  const Error& error() const& { return std::get<1>(state_); }
  Error&& error() && { return std::get<1>(std::move(state_)); }

 private:
  void check() const {
    if (!has_value()) [[unlikely]] {
      std::fprintf(stderr, "value() of an error: %s\n", std::get<1>(state_).what().c_str());
      std::abort();
    }
  }
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}
  [[nodiscard]] bool has_value() const { return !error_; }
  explicit operator bool() const { return has_value(); }
  const Error& error() const& {
    ACE_CHECK(error_.has_value(), "error() of a success");
    return *error_;
  }
  Error&& error() && {
    ACE_CHECK(error_.has_value(), "error() of a success");
    return *std::move(error_);
  }

 private:
  std::optional<Error> error_;
};

}  // namespace ace
