#include "perimeter/secret.h"

#include <openssl/crypto.h>

namespace ace {

Secret& Secret::operator=(const Secret& other) {
  if (this != &other) {
    wipe();
    text_ = other.text_;
  }
  return *this;
}

Secret::Secret(Secret&& other) noexcept {
  text_.swap(other.text_);
  other.wipe();
}

Secret& Secret::operator=(Secret&& other) noexcept {
  if (this != &other) {
    wipe();
    text_.swap(other.text_);
    other.wipe();
  }
  return *this;
}

/// All the text could hold: a short one that was moved away leaves its bytes in the object itself.
void Secret::wipe() {
  text_.resize(text_.capacity());
  OPENSSL_cleanse(text_.data(), text_.size());
  text_.clear();
}

}  // namespace ace
