#include "report/report.h"

extern "C" {
// The built page of ui/dist, embedded by page.S.
extern const char ace_page_begin[];
extern const char ace_page_end[];
}

namespace ace {

std::string to_html(std::string_view json) {
  const std::string_view page(ace_page_begin, static_cast<std::size_t>(ace_page_end - ace_page_begin));
  static constexpr std::string_view kSlot = "\"__ACE_REPORT__\"";
  const std::size_t slot = page.find(kSlot);
  ACE_CHECK(slot != std::string_view::npos, "the built page has a slot for its data");
  ACE_CHECK(page.find(kSlot, slot + 1) == std::string_view::npos, "the built page has one slot for its data");
  std::string html;
  html.reserve(page.size() + json.size() + json.size() / 16);
  html.append(page.substr(0, slot));
  for (const char c : json) {  // nothing in the data can close the script element
    if (c == '<')
      html += "\\u003c";
    else
      html += c;
  }
  html.append(page.substr(slot + kSlot.size()));
  return html;
}

}  // namespace ace
