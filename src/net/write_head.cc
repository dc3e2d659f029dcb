#include "net/write_head.h"

#include <charconv>

#include "core/check.h"
#include "net/characters.h"

namespace ace::net {

std::string_view reason_of(int status) {
  switch (status) {
    case 100:
      return "Continue";
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 202:
      return "Accepted";
    case 204:
      return "No Content";
    case 304:
      return "Not Modified";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 402:
      return "Payment Required";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 411:
      return "Length Required";
    case 413:
      return "Content Too Large";
    case 414:
      return "URI Too Long";
    case 415:
      return "Unsupported Media Type";
    case 417:
      return "Expectation Failed";
    case 421:
      return "Misdirected Request";
    case 422:
      return "Unprocessable Content";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 502:
      return "Bad Gateway";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "";
  }
}

void HeadWriter::request(std::string_view method, std::string_view target) {
  ACE_CHECK(!method.empty() && is_all(method, kToken), "a method that is no token");
  ACE_CHECK(!target.empty() && target.find_first_of(" \t\r\n") == std::string_view::npos && is_all(target, kValue),
            "a target that would end the request line");
  out_->append(method).append(" ").append(target).append(" HTTP/1.1\r\n");
}

void HeadWriter::status(int status) {
  ACE_CHECK(status >= 100 && status <= 599, "a status out of range");
  out_->append("HTTP/1.1 ");
  for (int unit = 100; unit > 0; unit /= 10) out_->push_back(static_cast<char>('0' + status / unit % 10));
  out_->append(" ").append(reason_of(status)).append("\r\n");
}

bool HeadWriter::field(std::string_view name, std::string_view value) {
  ACE_CHECK(!name.empty() && is_all(name, kToken), "a field name that is no token");
  if (!is_all(value, kValue) || without_blanks(value).size() != value.size()) return false;
  out_->append(name).append(": ").append(value).append("\r\n");
  return true;
}

void HeadWriter::field(std::string_view name, std::uint64_t value) {
  char digits[20];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  field(name, std::string_view(digits, static_cast<std::size_t>(end - digits)));
}

}  // namespace ace::net
