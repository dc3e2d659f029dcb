#pragma once
/// What whole answers and streams of the simulated provider share.
#include <string>
#include <string_view>

#include "simulated/answer.h"

namespace ace::simulated {

std::string_view openai_finish(const Speech& speech);
std::string_view anthropic_stop(const Speech& speech);

/// The usage object of an operation, "" if none is to be reported. @param last  the report that ends the answer, rather
/// than one before it
std::string usage_of(wire::Operation operation, const Speech& speech, Counted counted, bool last);

/// The object of the Responses API. @param usage  a member with the comma before it, or ""
std::string response_object(const Speech& speech, std::string_view status, std::string_view usage);

}  // namespace ace::simulated
