#include "spine/label.h"

#include <algorithm>
#include <array>

namespace ace::event {
namespace {

bool allowed(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("._:/+-[]%").find(c) != std::string_view::npos;
}

/// How keys of ACE, of the providers it speaks to and of the usual clouds begin, and the length of the shortest one.
/// Words that begin like that and are shorter are names.
struct Secret {
  std::string_view start;
  std::size_t least = 0;
};
constexpr std::array<Secret, 18> kSecrets = {{{"sk-"},
                                              {"sk_"},
                                              {"ace_sk"},
                                              {"AKIA", 16},
                                              {"ASIA", 16},
                                              {"AIza", 30},
                                              {"eyJ", 20},
                                              {"ghp_"},
                                              {"gho_"},
                                              {"github_pat_"},
                                              {"glpat-"},
                                              {"gsk_", 20},
                                              {"hf_", 20},
                                              {"nvapi-", 20},
                                              {"pplx-", 20},
                                              {"xai-", 20},
                                              {"xoxb-"},
                                              {"Bearer"}}};

bool looks_like_a_secret(std::string_view text) {
  return std::any_of(kSecrets.begin(), kSecrets.end(), [&](const Secret& secret) {
    return text.starts_with(secret.start) && text.size() >= secret.least;
  });
}

}  // namespace

bool is_label(std::string_view text) {
  return !text.empty() && text.size() <= kLabelMax && std::all_of(text.begin(), text.end(), allowed) &&
         !looks_like_a_secret(text);
}

std::string label_of(std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  if (text.empty() || looks_like_a_secret(text)) return "masked";
  std::string label;
  for (const char c : text) {
    const bool plain = allowed(c) && c != '%';
    if (label.size() + (plain ? 1 : 3) > kLabelMax) break;
    const auto byte = static_cast<unsigned char>(c);
    if (plain)
      label += c;
    else
      label += {'%', kHex[byte >> 4], kHex[byte & 15]};
  }
  return label;
}

std::string text_of(std::string_view label) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string text;
  for (std::size_t i = 0; i < label.size(); ++i) {
    const std::size_t high = label[i] == '%' && i + 2 < label.size() ? kHex.find(label[i + 1]) : kHex.npos;
    const std::size_t low = high == kHex.npos ? kHex.npos : kHex.find(label[i + 2]);
    if (low == kHex.npos) {
      text += label[i];
    } else {
      text += static_cast<char>(high << 4 | low);
      i += 2;
    }
  }
  return text;
}

bool is_kept(std::string_view text) { return text_of(label_of(text)) == text; }

}  // namespace ace::event
