#include "core/result.h"

namespace ace {

std::string_view name_of(Errc code) {
  switch (code) {
    case Errc::bad_input:
      return "bad_input";
    case Errc::out_of_range:
      return "out_of_range";
    case Errc::not_found:
      return "not_found";
    case Errc::conflict:
      return "conflict";
    case Errc::unpriced:
      return "unpriced";
    case Errc::truncated:
      return "truncated";
    case Errc::corrupt:
      return "corrupt";
    case Errc::unavailable:
      return "unavailable";
    case Errc::check_failed:
      return "check_failed";
  }
  return "unknown";
}

int exit_code(Errc code) {
  switch (code) {
    case Errc::check_failed:
      return 1;
    case Errc::unavailable:
      return 3;
    default:
      return 2;
  }
}

}  // namespace ace
