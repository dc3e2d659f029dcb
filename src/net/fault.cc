#include "net/fault.h"

#include <array>

#include "core/check.h"

namespace ace::net {
namespace {

struct Row {
  Fault fault;
  int status;
  std::string_view name, meaning;
};

constexpr std::array kRows = {
    Row{Fault::none, 200, "none", "nothing is wrong"},
    Row{Fault::bad_line_end, 400, "bad_line_end", "every line of a head ends in CR LF and holds neither elsewhere"},
    Row{Fault::bad_start_line, 400, "bad_start_line", "a request line is METHOD SP target SP HTTP/1.1"},
    Row{Fault::bad_version, 400, "bad_version", "the version is HTTP/1.1 or HTTP/1.0"},
    Row{Fault::unsupported_version, 505, "unsupported_version", "only HTTP/1.1 and HTTP/1.0 are spoken here"},
    Row{Fault::unknown_method, 405, "unknown_method", "the method is one of GET HEAD POST PUT PATCH DELETE OPTIONS"},
    Row{Fault::bad_target, 400, "bad_target", "a target starts with / and holds only characters of a URI"},
    Row{Fault::misdirected, 421, "misdirected", "this server answers for itself and is no proxy for others"},
    Row{Fault::line_too_long, 414, "line_too_long", "the request line is longer than this server reads"},
    Row{Fault::head_too_large, 431, "head_too_large", "the head is larger than this server reads"},
    Row{Fault::too_many_fields, 431, "too_many_fields", "the head has more fields than this server reads"},
    Row{Fault::bad_field, 400, "bad_field", "a field is a name, a colon and a value without control bytes"},
    Row{Fault::obsolete_fold, 400, "obsolete_fold", "a field stands on one line"},
    Row{Fault::underscore_twin, 400, "header_underscore", "write this field's name with - instead of _"},
    Row{Fault::bad_host, 400, "bad_host", "one Host field holds a host and perhaps a port"},
    Row{Fault::bad_connection, 400, "bad_connection",
        "Connection lists options, none of them a field that must arrive"},
    Row{Fault::bad_length, 400, "bad_length", "Content-Length is one decimal number"},
    Row{Fault::length_conflict, 400, "length_conflict", "the length of a body is stated once"},
    Row{Fault::bad_transfer_coding, 400, "bad_transfer_coding", "the only transfer coding is chunked, named once"},
    Row{Fault::length_required, 411, "length_required", "state Content-Length, or send the body chunked"},
    Row{Fault::body_not_allowed, 400, "body_not_allowed", "this message has no body"},
    Row{Fault::body_too_large, 413, "body_too_large", "the body is larger than this server reads"},
    Row{Fault::bad_expectation, 417, "bad_expectation", "the only expectation is 100-continue"},
    Row{Fault::unsupported_encoding, 415, "unsupported_encoding", "send the body without Content-Encoding"},
    Row{Fault::bad_chunk, 400, "bad_chunk", "a chunk is its size in hex, CR LF, its bytes, CR LF"},
    Row{Fault::bad_trailer, 400, "bad_trailer", "trailers are small, and none of them frames or authorises"},
    Row{Fault::bad_status, 502, "bad_status", "a final status lies between 200 and 599"},
    Row{Fault::truncated, 400, "truncated", "the peer closed the connection inside a message"},
    Row{Fault::too_slow, 408, "too_slow", "a request arrives within its time"},
    Row{Fault::unanswered, 500, "unanswered", "this server has no answer to this request"},
};

const Row& row_of(Fault fault) {
  const auto& row = kRows[static_cast<std::size_t>(fault)];
  ACE_CHECK(row.fault == fault, "the table of faults is not in their order");
  return row;
}

}  // namespace

int status_of(Fault fault) { return row_of(fault).status; }
std::string_view name_of(Fault fault) { return row_of(fault).name; }
std::string_view meaning_of(Fault fault) { return row_of(fault).meaning; }

}  // namespace ace::net
