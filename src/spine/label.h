#pragma once
/// The only texts that an event may hold: short names that were declared or masked, never free text.
#include <string>
#include <string_view>

namespace ace::event {

inline constexpr std::size_t kLabelMax = 96;

/// 1 to 96 of the characters A-Z a-z 0-9 . _ : / + - [ ] %, and nothing that looks like a secret (sk-..., ace_...,
/// AKIA..., eyJ..., ghp_..., gsk_..., hf_...). No blank and no @: neither a sentence nor an e-mail address is a label.
bool is_label(std::string_view text);

/// `text` with every other byte as %XX, cut to a label's length; what looks like a secret becomes "masked". For names
/// of a fleet file, which may be written in any way.
std::string label_of(std::string_view text);
/// What a label was made of, unless it was cut or hides a secret: label_of() of it is the label again.
std::string text_of(std::string_view label);
/// Does its label tell this text from every other? Not if it was cut or looks like a secret.
bool is_kept(std::string_view text);

}  // namespace ace::event
