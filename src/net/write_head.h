#pragma once
/// The head of a message that we send, written into a buffer the caller owns. Nothing that came from outside can add a
/// line to it.
#include <cstdint>
#include <string>
#include <string_view>

namespace ace::net {

class HeadWriter {
 public:
  /// @param out is appended to, and outlives the writer
  explicit HeadWriter(std::string& out) : out_(&out) {}

  /// @param method, target  ours or parsed; checked, for a space in either would start another request
  void request(std::string_view method, std::string_view target);
  /// @param status 100 to 599
  void status(int status);
  /// @return false, with nothing written, if the value holds a control byte other than tab, or blanks at its ends.
  /// The name is ours: ACE_CHECK.
  bool field(std::string_view name, std::string_view value);
  void field(std::string_view name, std::uint64_t value);
  /// The empty line.
  void end() { out_->append("\r\n"); }

 private:
  std::string* out_;
};

/// "Too Many Requests"; empty for statuses without a name of their own.
std::string_view reason_of(int status);

}  // namespace ace::net
